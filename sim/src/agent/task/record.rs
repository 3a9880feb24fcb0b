//! One task.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::{Message, Signal};
use crate::agent::abort::Abort;
use crate::outside::words;
use crate::time::{Duration, Instant};
use crate::wire::Usage;

words! {
    /// The kind of a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// A sub-agent.
        Agent = "agent",
        /// A background shell command.
        Shell = "shell",
        /// A monitored command.
        Monitor = "monitor",
        /// A teammate.
        Teammate = "teammate",
        /// An agent on another machine.
        Remote = "remote",
    }
}

words! {
    /// The state of a task: running, then exactly one of the others (LIFE-02).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// It is running.
        Running = "running",
        /// It ended normally.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was stopped.
        Killed = "killed",
    }
}

words! {
    /// How the end of a task reaches the agent that launched it (NOTIFY-10, NOTIFY-11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Report {
        /// Not at all so far.
        None = "none",
        /// By a notification.
        Enqueued = "enqueued",
        /// A blocking call of TaskOutput returned it.
        Read = "read",
    }
}

/// Progress of a task (TRANSCRIPT-03).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages of the agent so far.
    pub messages: usize,
    /// Tool calls so far.
    pub tool_uses: u64,
    /// Usage so far.
    pub usage: Usage,
}

/// What a task starts with.
#[derive(Debug)]
pub struct Launch {
    /// Its id; for an agent, the agent's id.
    pub id: Rc<str>,
    /// Its kind.
    pub kind: Kind,
    /// Its purpose, as described by the launching call.
    pub description: Rc<str>,
    /// The call that launched it (NOTIFY-08).
    pub tool_use: Rc<str>,
    /// The agent that launched it; `None` for the main agent.
    pub owner: Option<Rc<str>>,
    /// The path of its readable output.
    pub output_file: Rc<str>,
    /// Stops it.
    pub abort: Abort,
    /// Whether it runs in the background.
    pub background: bool,
}

/// A task.
#[derive(Debug)]
pub struct Task {
    /// Its id; for an agent, the agent's id.
    pub id: Rc<str>,
    /// Its kind.
    pub kind: Kind,
    /// Its purpose, as described by the launching call.
    pub description: Rc<str>,
    /// The call that launched it (NOTIFY-08).
    pub tool_use: Rc<str>,
    /// The agent that launched it; `None` for the main agent.
    pub owner: Option<Rc<str>>,
    /// The path of its readable output.
    pub output_file: Rc<str>,
    /// When it started; a takeover does not change this.
    pub started: Instant,
    /// Made when it is first used, which few tasks do.
    signal: OnceCell<Box<Signal>>,
    /// Its progress.
    pub progress: Cell<Progress>,
    abort: RefCell<Abort>,
    rewriting: RefCell<Option<Rc<str>>>,
    messages: RefCell<Vec<Message>>,
    state: Cell<State>,
    ended: Cell<Option<Instant>>,
    background: Cell<bool>,
    reported: Cell<Report>,
    readers: Cell<u32>,
    settled: Cell<bool>,
    idle: Cell<bool>,
    /// Made for the first waiter, for most tasks have none.
    posted: OnceCell<Box<Notify>>,
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
            signal: OnceCell::new(),
            progress: Cell::default(),
            abort: RefCell::new(launch.abort),
            rewriting: RefCell::default(),
            messages: RefCell::default(),
            state: Cell::new(State::Running),
            ended: Cell::default(),
            background: Cell::new(launch.background),
            reported: Cell::new(Report::None),
            readers: Cell::default(),
            settled: Cell::default(),
            idle: Cell::default(),
            posted: OnceCell::new(),
        }
    }

    /// Its state.
    pub const fn state(&self) -> State {
        self.state.get()
    }

    /// Whether it runs in the background.
    pub const fn is_background(&self) -> bool {
        self.background.get()
    }

    /// Moves it to the background while its call waits (SYNC-06).
    pub fn signal(&self) -> &Signal {
        self.signal.get_or_init(Box::default)
    }

    /// Its own abort signal, independent of other agents' (ASYNC-11).
    pub fn abort(&self) -> Abort {
        self.abort.borrow().clone()
    }

    /// Replaces the signal when a new run continues it (SYNC-09).
    pub fn replace_abort(&self, abort: Abort) {
        self.abort.replace(abort);
    }

    /// Requests that the agent's history be replaced by this text at its next compaction step.
    pub fn rewrite(&self, text: Rc<str>) {
        self.rewriting.replace(Some(text));
    }

    /// Takes the requested replacement of the history.
    pub fn take_rewriting(&self) -> Option<Rc<str>> {
        self.rewriting.take()
    }

    /// Keeps a message for the agent's next loop boundary (`queuePendingMessage`, MSG-07).
    pub fn post(&self, message: Message) {
        self.messages.borrow_mut().push(message);
        if let Some(posted) = self.posted.get() {
            posted.notify_waiters();
        }
    }

    /// Ready at the next message after this call.
    pub fn posted(&self) -> Notified<'_> {
        self.posted.get_or_init(Box::default).notified()
    }

    /// Takes the messages that wait, in order (MSG-08, G10).
    pub fn take_messages(&self) -> Vec<Message> {
        self.messages.take()
    }

    /// Claims the right to report its end in this way, tested and set in one step (NOTIFY-10, NOTIFY-11). Only the
    /// first caller gets `true` and reports.
    pub fn claim_report(&self, report: Report) -> bool {
        let is_first = self.reported.get() == Report::None;
        if is_first {
            self.reported.set(report);
        }
        is_first
    }

    /// How its end was reported.
    pub const fn reported(&self) -> Report {
        self.reported.get()
    }

    /// Whether the slow work after its end is done too (ASYNC-09).
    pub const fn is_settled(&self) -> bool {
        self.settled.get()
    }

    /// Running time, up to `now` if it still runs (RESULT-11).
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

    pub(super) const fn readers(&self) -> u32 {
        self.readers.get()
    }

    pub(super) fn count_reader(&self, joins: bool) {
        let readers = self.readers.get();
        self.readers.set(if joins { readers + 1 } else { readers.saturating_sub(1) });
    }

    pub(super) const fn settle(&self) -> bool {
        !self.settled.replace(true)
    }

    /// Sets whether it waits for a message; returns whether that is a change.
    pub(super) const fn set_idle(&self, is_idle: bool) -> bool {
        self.idle.replace(is_idle) != is_idle
    }

    pub(super) const fn move_to_background(&self) -> bool {
        !self.background.replace(true)
    }
}
