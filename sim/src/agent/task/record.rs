//! One task.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Signal;
use crate::agent::abort::Abort;
use crate::outside::words;
use crate::time::{Duration, Instant};
use crate::wire::Usage;

words! {
    /// What a task is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// A sub-agent.
        Agent = "agent",
        /// A command of the shell in the background.
        Shell = "shell",
        /// A command that is watched.
        Monitor = "monitor",
    }
}

words! {
    /// Where a task stands: running, then exactly one of the others (LIFE-02).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// It runs.
        Running = "running",
        /// It came to its end.
        Completed = "completed",
        /// It ended by an error.
        Failed = "failed",
        /// Somebody ended it.
        Killed = "killed",
    }
}

/// How far a task is (TRANSCRIPT-03).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages of the agent so far.
    pub messages: usize,
    /// Calls of tools so far.
    pub tool_uses: u64,
    /// Usage so far.
    pub usage: Usage,
}

/// What a task begins with.
#[derive(Debug)]
pub struct Launch {
    /// Its id; of an agent the agent's.
    pub id: Rc<str>,
    /// What it is.
    pub kind: Kind,
    /// What it is for, in the words of whoever launched it.
    pub description: Rc<str>,
    /// The call that launched it (NOTIFY-08).
    pub tool_use: Rc<str>,
    /// The agent that launched it; `None` for the main agent.
    pub owner: Option<Rc<str>>,
    /// Where its readable output lies.
    pub output_file: Rc<str>,
    /// Ends it.
    pub abort: Abort,
    /// Nobody waits for it.
    pub background: bool,
}

/// A task.
#[derive(Debug)]
pub struct Task {
    /// Its id; of an agent the agent's.
    pub id: Rc<str>,
    /// What it is.
    pub kind: Kind,
    /// What it is for, in the words of whoever launched it.
    pub description: Rc<str>,
    /// The call that launched it (NOTIFY-08).
    pub tool_use: Rc<str>,
    /// The agent that launched it; `None` for the main agent.
    pub owner: Option<Rc<str>>,
    /// Where its readable output lies.
    pub output_file: Rc<str>,
    /// When it began; a takeover does not begin it anew.
    pub started: Instant,
    /// Sends it into the background while somebody waits for it (SYNC-06).
    pub signal: Signal,
    /// How far it is.
    pub progress: Cell<Progress>,
    abort: RefCell<Abort>,
    rewriting: RefCell<Option<Rc<str>>>,
    state: Cell<State>,
    ended: Cell<Option<Instant>>,
    background: Cell<bool>,
    notified: Cell<bool>,
    settled: Cell<bool>,
}

impl Task {
    pub(super) fn new(started: Instant, launch: Launch) -> Self {
        Self {
            id: launch.id,
            kind: launch.kind,
            description: launch.description,
            tool_use: launch.tool_use,
            owner: launch.owner,
            output_file: launch.output_file,
            started,
            signal: Signal::default(),
            progress: Cell::default(),
            abort: RefCell::new(launch.abort),
            rewriting: RefCell::default(),
            state: Cell::new(State::Running),
            ended: Cell::default(),
            background: Cell::new(launch.background),
            notified: Cell::default(),
            settled: Cell::default(),
        }
    }

    /// Where it stands.
    pub const fn state(&self) -> State {
        self.state.get()
    }

    /// Whether nobody waits for it.
    pub const fn is_background(&self) -> bool {
        self.background.get()
    }

    /// Ends it: its own signal, which no other agent's touches (ASYNC-11).
    pub fn abort(&self) -> Abort {
        self.abort.borrow().clone()
    }

    /// A new run continues it under another signal (SYNC-09).
    pub fn replace_abort(&self, abort: Abort) {
        self.abort.replace(abort);
    }

    /// The agent's history is to become this one text, where its loop comes to compacting next.
    pub fn rewrite(&self, text: Rc<str>) {
        self.rewriting.replace(Some(text));
    }

    /// What the history is to become; asked once.
    pub fn take_rewriting(&self) -> Option<Rc<str>> {
        self.rewriting.take()
    }

    /// Claims the right to tell of its end, once: tested and set in one step (NOTIFY-10, NOTIFY-11). Whoever gets
    /// `true` tells; everybody after that is silent.
    pub const fn claim_notification(&self) -> bool {
        !self.notified.replace(true)
    }

    /// How long it ran, up to `now` while it runs (RESULT-11).
    pub fn ran(&self, now: Instant) -> Duration {
        self.ended.get().unwrap_or(now).since(self.started)
    }

    /// Counts a message of the agent.
    pub fn advance(&self, tool_uses: usize, usage: Usage) {
        let mut progress = self.progress.get();
        progress.messages += 1;
        progress.tool_uses += tool_uses as u64;
        progress.usage += usage;
        self.progress.set(progress);
    }

    pub(super) fn end(&self, state: State, at: Instant) -> bool {
        let runs = self.state.get() == State::Running && state != State::Running;
        if runs {
            self.state.set(state);
            self.ended.set(Some(at));
        }
        runs
    }

    pub(super) const fn settle(&self) -> bool {
        !self.settled.replace(true)
    }

    pub(super) const fn move_to_background(&self) -> bool {
        !self.background.replace(true)
    }
}
