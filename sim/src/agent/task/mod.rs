//! What runs, in front and behind: sub-agents, background shells, monitors (contract LIFE-02, LIFE-09, ASYNC-12,
//! TRANSCRIPT-03, TRANSCRIPT-08).
//!
//! * [`record`]: one task: what it is, how far it is, how it ended, whether it was told.
//! * [`foreground`]: the signal that sends a synchronous child into the background (SYNC-06, SYNC-12).
//! * [`names`]: names of agents (AGENT-26).
//! * [`output`]: where a task's readable output lies (TRANSCRIPT-04).

pub mod foreground;
pub mod names;
pub mod output;
pub mod record;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

pub use foreground::Signal;
pub use names::Names;
pub use record::{Kind, Launch, Progress, State, Task};

use super::event::Event;
use super::ground::Ground;
use crate::wire::Index;

/// The tasks of a session.
pub struct Tasks {
    ground: Rc<Ground>,
    records: RefCell<Records>,
    /// Synchronous children that somebody waits for, in order of registration (SYNC-06).
    foreground: RefCell<Vec<Rc<Task>>>,
    /// Background tasks that are not settled.
    unsettled: Cell<usize>,
    changed: Notify,
    /// Names of agents.
    pub names: Names,
}

/// All tasks that there ever were, each at its place.
#[derive(Debug, Default)]
struct Records {
    tasks: Vec<Rc<Task>>,
    places: Index<Rc<str>, usize>,
}

/// Why a task cannot be ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKilled {
    /// There is none of this id.
    #[error("there is no task `{0}`")]
    Unknown(Rc<str>),
    /// It has ended.
    #[error("task `{task}` is not running, it is {state}")]
    Ended {
        /// The task.
        task: Rc<str>,
        /// Its state.
        state: &'static str,
    },
}

impl Records {
    /// A task takes the place of one that has the same id.
    fn put(&mut self, task: &Rc<Task>) {
        let place = *self.places.get_or_insert_with(task.id.clone(), || self.tasks.len());
        match self.tasks.get_mut(place) {
            Some(known) => *known = task.clone(),
            None => self.tasks.push(task.clone()),
        }
    }

    fn get(&self, id: &str) -> Option<Rc<Task>> {
        self.places.get(id).map(|place| self.tasks[*place].clone())
    }

    fn in_order(&self) -> Vec<Rc<Task>> {
        let mut tasks = self.tasks.clone();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        tasks
    }
}

impl Tasks {
    /// No tasks.
    pub fn new(ground: Rc<Ground>) -> Self {
        Self {
            names: Names::new(ground.clone()),
            ground,
            records: RefCell::default(),
            foreground: RefCell::default(),
            unsettled: Cell::default(),
            changed: Notify::new(),
        }
    }

    /// Registers a task that begins to run: in the foreground (`registerAgentForeground`, SYNC-06) or not (ASYNC-03).
    pub fn register(&self, launch: Launch) -> Rc<Task> {
        let task = Rc::new(Task::new(self.ground.now(), launch));
        if task.is_background() {
            self.unsettled.set(self.unsettled.get() + 1);
        } else {
            self.foreground.borrow_mut().push(task.clone());
        }
        self.records.borrow_mut().put(&task);
        self.tell(&task);
        task
    }

    /// The task of this id.
    pub fn get(&self, id: &str) -> Option<Rc<Task>> {
        self.records.borrow().get(id)
    }

    /// All tasks that there ever were, in order of their ids.
    pub fn all(&self) -> Vec<Rc<Task>> {
        self.records.borrow().in_order()
    }

    /// Whether the task of this id runs.
    pub fn is_running(&self, id: &str) -> bool {
        self.get(id).is_some_and(|task| task.state() == State::Running)
    }

    /// Gives a task its terminal state and wakes whoever waits for it (ASYNC-09, ASYNC-10). States are final: `false`
    /// when it has one already (LIFE-09).
    pub fn end(&self, task: &Task, state: State) -> bool {
        if !task.end(state, self.ground.now()) {
            return false;
        }
        self.tell(task);
        self.changed.notify_waiters();
        true
    }

    /// Slow work after the end of a background task is done and its notification is on its way: nothing more comes of
    /// it. Every background task is settled once, by whoever ended it.
    pub fn settle(&self, task: &Task) {
        if task.is_background() && task.settle() {
            debug_assert!(self.unsettled.get() > 0, "a background task is counted once and settled once");
            self.unsettled.set(self.unsettled.get().saturating_sub(1));
            self.changed.notify_waiters();
        }
    }

    /// Background tasks that run, or have ended and not told yet: as long as there are any, a headless session waits
    /// (QUEUE-14).
    pub fn running(&self) -> usize {
        self.unsettled.get()
    }

    /// Ready when a task has ended or was settled after this call. Call it before looking at what it waits for.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// The terminal state of a task as soon as it has one, without any slow work behind it (ASYNC-10); `None` for an
    /// unknown id.
    pub async fn ended(&self, id: &str) -> Option<State> {
        loop {
            let changed = self.changed();
            match self.get(id)?.state() {
                State::Running => changed.await,
                state => return Some(state),
            }
        }
    }

    /// Ends a running task by its own abort signal (ASYNC-11, ASYNC-12).
    ///
    /// # Errors
    /// When there is no such task or it has ended.
    pub fn kill(&self, id: &str) -> Result<(), NotKilled> {
        let task = self.get(id).ok_or_else(|| NotKilled::Unknown(id.into()))?;
        if task.state() != State::Running {
            return Err(NotKilled::Ended { task: task.id.clone(), state: task.state().name() });
        }
        task.abort().give();
        Ok(())
    }

    /// Ends all background tasks that run; says how many (ASYNC-12, bulk kill).
    pub fn kill_all(&self) -> usize {
        let mut doomed = self.all();
        doomed.retain(|task| task.is_background() && task.state() == State::Running);
        for task in &doomed {
            task.abort().give();
        }
        doomed.len()
    }

    /// The synchronous children that somebody waits for, the outermost first.
    pub fn in_foreground(&self) -> Vec<Rc<Task>> {
        self.foreground.borrow().clone()
    }

    /// The user sends a synchronous child into the background (SYNC-12); `false` when none of this id is waited for.
    pub fn background(&self, id: &str) -> bool {
        let found = self.foreground.borrow().iter().find(|task| &*task.id == id).cloned();
        found.is_some_and(|task| task.signal.give("user"))
    }

    /// The user sends every synchronous child into the background; says how many.
    pub fn background_all(&self) -> usize {
        self.in_foreground().iter().filter(|task| task.signal.give("user")).count()
    }

    /// A synchronous child is waited for no more (`unregisterAgentForeground`, SYNC-20).
    pub fn unregister(&self, task: &Task) {
        self.foreground.borrow_mut().retain(|other| other.id != task.id);
    }

    /// A synchronous child runs in the background from here on, under the same record (SYNC-09, G27).
    pub fn move_to_background(&self, task: &Task) {
        self.unregister(task);
        if task.move_to_background() {
            self.unsettled.set(self.unsettled.get() + 1);
            self.tell(task);
        }
    }

    fn tell(&self, task: &Task) {
        self.ground.emit(&Event::TaskState {
            task: task.id.clone(),
            kind: task.kind.name(),
            state: task.state().name(),
            background: task.is_background(),
        });
    }
}
