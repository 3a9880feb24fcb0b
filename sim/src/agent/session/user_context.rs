//! The messages that precede the conversations of a session (contract LOOP-04).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::wire::Message;

/// The user contexts of a session, by working directory.
#[derive(Default)]
pub struct UserContexts(RefCell<BTreeMap<Rc<str>, Rc<Message>>>);

impl UserContexts {
    /// The context for agents that started in `cwd`; `take_down` creates it for the first of them.
    pub fn of(&self, cwd: &Rc<str>, take_down: impl FnOnce(&str) -> Message) -> Rc<Message> {
        let mut known = self.0.borrow_mut();
        known.entry(cwd.clone()).or_insert_with_key(|cwd| Rc::new(take_down(cwd))).clone()
    }

    /// Replaces the context by `message`, which differs only in sizes.
    pub fn replace(&self, cwd: &Rc<str>, message: Message) {
        self.0.borrow_mut().insert(cwd.clone(), Rc::new(message));
    }
}
