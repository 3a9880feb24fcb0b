//! Where the user sits: a terminal, or the program around a session without one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;

use super::{Context, Session};
use crate::agent::abort::Abort;
use crate::agent::event::Event;
use crate::agent::queue::{Item, Mode, Priority};

/// A command under way; gives its output for the conversation, empty where it has none.
pub type Handling<'a> = Pin<Box<dyn Future<Output = Rc<str>> + 'a>>;

/// What a slash command does. The text behind its name is no argument of it: that goes to the model afterwards (INPUT-06).
pub trait Command {
    /// Does it, in the main conversation.
    fn run<'a>(&'a self, main: &'a Rc<Context>) -> Handling<'a>;
}

/// The user's end of a session.
#[derive(Default)]
pub struct FrontEnd {
    commands: RefCell<BTreeMap<Rc<str>, Rc<dyn Command>>>,
    /// What ESC stops, while something of the main thread runs.
    active: RefCell<Option<Abort>>,
    is_dialog_open: Cell<bool>,
    has_left: Cell<bool>,
}

impl FrontEnd {
    /// Makes `/name` a command.
    pub fn register(&self, name: &str, command: Rc<dyn Command>) {
        self.commands.borrow_mut().insert(name.into(), command);
    }

    /// The command called `name`.
    pub fn command(&self, name: &str) -> Option<Rc<dyn Command>> {
        self.commands.borrow().get(name).cloned()
    }

    /// The user types a line. It enters the queue, and waits there while a turn runs (INPUT-08); `!` makes it a line for
    /// the shell (INPUT-09). Gives the item's number.
    pub fn type_line(&self, session: &Session, text: &str) -> u64 {
        session.emit(&Event::User { does: "types" });
        let (mode, text) = match text.strip_prefix('!') {
            Some(command) => (Mode::Bash, command.trim()),
            None => (Mode::Prompt, text),
        };
        session.emit(&Event::Input { step: "front_end", form: mode.name() });
        session.queue.enqueue(Item::new(mode, Priority::default(), None, text, "user"))
    }

    /// The user presses ESC: stops the main thread's turn and those who wait with it, never what runs in the background
    /// (contract ASYNC-11). Does nothing while none runs.
    pub fn escape(&self, session: &Session) {
        session.emit(&Event::User { does: "escape" });
        if let Some(active) = &*self.active.borrow() {
            active.give();
        }
    }

    /// A dialog of the terminal opens or closes; while one is open nothing is taken from the queue (QUEUE-13).
    pub fn set_dialog(&self, session: &Session, is_open: bool) {
        self.is_dialog_open.set(is_open);
        session.emit(&Event::User { does: if is_open { "opens_dialog" } else { "closes_dialog" } });
        session.queue.wake();
    }

    /// The user leaves: the session ends when nothing is left to do.
    pub fn leave(&self, session: &Session) {
        self.has_left.set(true);
        session.emit(&Event::User { does: "leaves" });
        session.queue.wake();
    }

    /// Whether something of the main thread runs.
    pub fn is_active(&self) -> bool {
        self.active.borrow().is_some()
    }

    /// Whether a dialog is open.
    pub fn is_dialog_open(&self) -> bool {
        self.is_dialog_open.get()
    }

    /// Whether the user has left.
    pub fn has_left(&self) -> bool {
        self.has_left.get()
    }

    /// The main thread begins something that ESC stops by `abort`, until the guard is dropped.
    pub(in crate::agent) fn begin<'a>(&'a self, session: &'a Session, abort: &Abort) -> Active<'a> {
        abort.clear();
        *self.active.borrow_mut() = Some(abort.clone());
        Active(session)
    }
}

/// While it lives, something of the main thread runs.
pub(in crate::agent) struct Active<'a>(&'a Session);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        *self.0.front.active.borrow_mut() = None;
        self.0.queue.wake();
    }
}

impl fmt::Debug for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = self.commands.borrow();
        f.debug_struct("FrontEnd").field("commands", &commands.keys()).field("has_left", &self.has_left).finish()
    }
}
