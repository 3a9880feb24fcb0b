//! Internal forks of a session while they run, and what they may do (contract INTERNAL-02, INTERNAL-10).

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::{Rc, Weak};

use super::context::Context;
use crate::agent::abort::Abort;
use crate::agent::settings::Caller;

/// An internal fork: who runs it, and which calls that caller allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// Who runs it.
    pub caller: Caller,
    /// Which calls are allowed (`canUseTool`, INTERNAL-02).
    pub can_use: CanUse,
}

/// Which calls the caller of an internal fork allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanUse {
    /// None.
    Nothing,
    /// Those that only read.
    Reads,
    /// The same, and edits of this file, or of files below this folder.
    Edits(Rc<str>),
}

/// Asks for a summary of a conversation. Loops use it, and it runs a loop itself, so it is given to the session.
pub type Summariser = fn(Rc<Context>) -> Pin<Box<dyn Future<Output = Option<Rc<str>>>>>;

/// The internal forks of a session.
#[derive(Default)]
pub struct Helpers {
    summariser: OnceCell<Summariser>,
    main: OnceCell<Weak<Context>>,
    running: Cell<usize>,
    /// Turns of the main agent that ended by themselves.
    turns: Cell<u64>,
    /// Stops guesses about what the user types next.
    guessing: RefCell<Abort>,
    /// The newest result for each caller, which is all that is kept of a run.
    results: RefCell<BTreeMap<Caller, Rc<str>>>,
}

impl Helpers {
    /// Internal forks that run.
    pub fn running(&self) -> usize {
        self.running.get()
    }

    pub(in crate::agent) fn count(&self, starts: bool) {
        let running = self.running.get();
        self.running.set(if starts { running + 1 } else { running.saturating_sub(1) });
    }

    /// Counts a turn of the main agent that ended by itself.
    pub(in crate::agent) fn turn_ended(&self) -> u64 {
        self.turns.set(self.turns.get() + 1);
        self.turns.get()
    }

    /// The signal that stops guesses about what the user types next.
    pub(in crate::agent) fn guessing(&self) -> Abort {
        self.guessing.borrow().clone()
    }

    /// The user has typed: guesses are of no use any more.
    pub(in crate::agent) fn stop_guessing(&self) {
        self.guessing.replace(Abort::default()).give();
    }

    /// Sets how conversations are summarised (contract COMPACT-08). Without it they are not.
    pub fn set_summariser(&self, summariser: Summariser) {
        // It is the same for all sessions, so the first one counts.
        let _ = self.summariser.set(summariser);
    }

    /// A summary of the conversation of `context`; `None` if there is none.
    pub(in crate::agent) async fn summary(&self, context: &Rc<Context>) -> Option<Rc<str>> {
        let summariser = self.summariser.get()?;
        summariser(context.clone()).await
    }

    pub(super) fn set_main(&self, main: &Rc<Context>) {
        // A session has one main agent; tests open others, and the first counts.
        let _ = self.main.set(Rc::downgrade(main));
    }

    /// The main agent.
    pub fn main(&self) -> Option<Rc<Context>> {
        self.main.get()?.upgrade()
    }

    pub(in crate::agent) fn keep(&self, caller: Caller, result: Rc<str>) {
        self.results.borrow_mut().insert(caller, result);
    }

    /// The newest result for `caller`.
    pub fn result(&self, caller: Caller) -> Option<Rc<str>> {
        self.results.borrow().get(&caller).cloned()
    }
}
