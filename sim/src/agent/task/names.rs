//! Names of agents (contract AGENT-26, G28): state of the run, kept nowhere else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::event::Event;
use crate::agent::session::Session;

/// Which agent goes by which name.
#[derive(Debug, Default)]
pub struct Names(RefCell<BTreeMap<Rc<str>, Rc<str>>>);

impl Names {
    /// Registers `name` for `agent`. Of two agents with one name the latest goes by it, and the log says whom it
    /// replaced (G28).
    pub fn register(&self, session: &Session, name: &Rc<str>, agent: &Rc<str>) {
        let replaced = self.0.borrow_mut().insert(name.clone(), agent.clone());
        session.emit(&Event::Named { agent: agent.clone(), name: name.clone(), replaced });
    }

    /// The agent that goes by `name`.
    pub fn get(&self, name: &str) -> Option<Rc<str>> {
        self.0.borrow().get(name).cloned()
    }
}
