//! The user's side of a session: a terminal, or the host program of a session without one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;

use super::{Context, Session};
use crate::agent::abort::Abort;
use crate::agent::event::Event;
use crate::agent::queue::{Item, Mode, Priority};
use crate::time::{Duration, Instant};

/// A running command. Returns its output for the conversation, empty if there is none.
pub type Handling<'a> = Pin<Box<dyn Future<Output = Rc<str>> + 'a>>;

/// A slash command. The text after its name is not an argument: it goes to the model afterwards (INPUT-06).
pub trait Command {
    /// Runs in the main conversation.
    fn run<'a>(&'a self, main: &'a Rc<Context>) -> Handling<'a>;
}

/// A replacement of the main conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// All of it becomes this text, as after a compaction.
    Whole {
        /// The text.
        text: Rc<str>,
        /// How long it takes. Then it happens before the next request, and concerns everything until then; otherwise it
        /// happens before the next turn.
        takes: Option<Duration>,
    },
    /// The newest text of the user that contains this one is dropped with everything after it, before the next turn.
    From(Rc<str>),
}

/// The user's end of a session.
#[derive(Default)]
pub struct FrontEnd {
    commands: RefCell<BTreeMap<Rc<str>, Rc<dyn Command>>>,
    /// The signal that ESC gives while the main thread is active.
    active: RefCell<Option<Abort>>,
    is_dialog_open: Cell<bool>,
    has_left: Cell<bool>,
    /// The end of the last query.
    idle_since: Cell<Instant>,
    rewritings: RefCell<Vec<Rewriting>>,
}

impl FrontEnd {
    /// Registers `/name` as a command.
    pub fn register(&self, name: &str, command: Rc<dyn Command>) {
        self.commands.borrow_mut().insert(name.into(), command);
    }

    /// The command called `name`.
    pub fn command(&self, name: &str) -> Option<Rc<dyn Command>> {
        self.commands.borrow().get(name).cloned()
    }

    /// The user types a line. It is enqueued and waits while a turn runs (INPUT-08); `!` marks a shell line (INPUT-09).
    /// Returns the item's number.
    pub fn type_line(&self, session: &Session, text: &str) -> u64 {
        session.emit(&Event::User { does: "types" });
        let (mode, text) = match text.strip_prefix('!') {
            Some(command) => (Mode::Bash, command.trim()),
            None => (Mode::Prompt, text),
        };
        session.emit(&Event::Input { step: "front_end", form: mode.name() });
        session.queue.enqueue(Item::new(mode, Priority::default(), None, text, "user"))
    }

    /// The user presses ESC. This stops the main thread's turn and the agents it waits for, but never background work
    /// (contract ASYNC-11). Without an active turn it does nothing.
    pub fn escape(&self, session: &Session) {
        session.emit(&Event::User { does: "escape" });
        if let Some(active) = &*self.active.borrow() {
            active.give();
        }
    }

    /// The main conversation is to be replaced.
    pub fn rewrite(&self, rewriting: Rewriting) {
        self.rewritings.borrow_mut().push(rewriting);
    }

    /// Takes the replacements that happen before a request, or those that happen before a turn.
    pub(in crate::agent) fn take_rewritings(&self, before_request: bool) -> Vec<Rewriting> {
        let is_meant =
            |rewriting: &Rewriting| matches!(rewriting, Rewriting::Whole { takes: Some(_), .. }) == before_request;
        let (taken, left) = self.rewritings.take().into_iter().partition(is_meant);
        self.rewritings.replace(left);
        taken
    }

    /// A dialog of the terminal opens or closes; the queue is not consumed while one is open (QUEUE-13).
    pub fn set_dialog(&self, session: &Session, is_open: bool) {
        self.is_dialog_open.set(is_open);
        session.emit(&Event::User { does: if is_open { "opens_dialog" } else { "closes_dialog" } });
        session.queue.wake();
    }

    /// The user leaves. The session ends when no work remains.
    pub fn leave(&self, session: &Session) {
        self.has_left.set(true);
        session.emit(&Event::User { does: "leaves" });
        session.queue.wake();
    }

    /// Whether the main thread is active.
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

    /// Marks the main thread as active until the guard is dropped; ESC gives `abort`.
    /// The end of the last query.
    pub(in crate::agent) const fn idle_since(&self) -> Instant {
        self.idle_since.get()
    }

    pub(in crate::agent) fn begin<'a>(&'a self, session: &'a Session, abort: &Abort) -> Active<'a> {
        abort.clear();
        *self.active.borrow_mut() = Some(abort.clone());
        Active(session)
    }
}

/// The main thread is active until this is dropped.
pub(in crate::agent) struct Active<'a>(&'a Session);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        *self.0.front.active.borrow_mut() = None;
        self.0.front.idle_since.set(self.0.now());
        self.0.queue.wake();
    }
}

impl fmt::Debug for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = self.commands.borrow();
        f.debug_struct("FrontEnd").field("commands", &commands.keys()).field("has_left", &self.has_left).finish()
    }
}
