//! Running tasks, foreground and background: sub-agents, background shells, monitors (contract LIFE-02, LIFE-09,
//! ASYNC-12, TRANSCRIPT-03, TRANSCRIPT-08).
//!
//! * [`record`]: one task: kind, progress, outcome, and whether its end was reported.
//! * [`foreground`]: the signal that moves a synchronous child to the background (SYNC-06, SYNC-12).
//! * [`message`]: messages that wait for a running agent (MSG-07).
//! * [`names`]: names of agents (AGENT-26).
//! * [`output`]: the path of a task's readable output (TRANSCRIPT-04).

pub mod foreground;
pub mod message;
pub mod names;
pub mod output;
pub mod record;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

pub use foreground::Signal;
pub use message::Message;
pub use names::Names;
pub use record::{Kind, Launch, Progress, Report, State, Task};

use super::event::Event;
use super::ground::Ground;
use crate::wire::Index;

/// The tasks of a session.
pub struct Tasks {
    ground: Rc<Ground>,
    records: RefCell<Records>,
    /// Synchronous children that are awaited, in order of registration (SYNC-06).
    foreground: RefCell<Vec<Rc<Task>>>,
    /// Background tasks that are not settled.
    unsettled: Cell<usize>,
    changed: Notify,
    /// Names of agents.
    pub names: Names,
}

/// All tasks, including ended ones, by position.
#[derive(Debug, Default)]
struct Records {
    tasks: Vec<Rc<Task>>,
    places: Index<Rc<str>, usize>,
}

/// Why a task cannot be stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKilled {
    /// No task has this id.
    #[error("there is no task `{0}`")]
    Unknown(Rc<str>),
    /// It has already ended.
    #[error("task `{task}` is not running, it is {state}")]
    Ended {
        /// The task.
        task: Rc<str>,
        /// Its state.
        state: &'static str,
    },
}

/// A blocking read of a task; dropping it ends the read.
pub struct Reader<'a> {
    tasks: &'a Tasks,
    task: &'a Task,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.task.count_reader(false);
        self.tasks.changed.notify_waiters();
    }
}

impl Records {
    /// Adds a task, or replaces the one with the same id.
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

    /// Removes a task.
    fn remove(&mut self, id: &str) {
        self.tasks.retain(|task| *task.id != *id);
        self.places.remove(id);
        for (place, task) in self.tasks.iter().enumerate() {
            self.places.insert(task.id.clone(), place);
        }
    }

    fn in_order(&self) -> Vec<Rc<Task>> {
        let mut tasks = self.tasks.clone();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        tasks
    }
}

impl Tasks {
    /// A session without tasks.
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

    /// Registers a task that starts to run: in the foreground (`registerAgentForeground`, SYNC-06) or not (ASYNC-03).
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

    /// Forgets a task that has ended and is settled, and the names of its agent (contract MSG-10, MSG-13); returns
    /// whether there was one.
    pub fn forget(&self, id: &str) -> bool {
        let is_over = |task: &Rc<Task>| task.state() != State::Running && (task.is_settled() || !task.is_background());
        let Some(task) = self.get(id).filter(is_over) else { return false };
        self.records.borrow_mut().remove(id);
        self.names.forget(id);
        self.ground.emit(&Event::Forgotten { task: task.id.clone() });
        true
    }

    /// Ready when the run of an ended task is cleaned up too: a second run of its agent may start.
    pub async fn settled(&self, task: &Task) {
        loop {
            let changed = self.changed();
            if task.is_settled() || !task.is_background() {
                return;
            }
            changed.await;
        }
    }

    /// All tasks, including ended ones, ordered by id.
    pub fn all(&self) -> Vec<Rc<Task>> {
        self.records.borrow().in_order()
    }

    /// Whether the task of this id runs.
    pub fn is_running(&self, id: &str) -> bool {
        self.get(id).is_some_and(|task| task.state() == State::Running)
    }

    /// Sets a task's final state and wakes those who wait for it (ASYNC-09, ASYNC-10). States are final: returns
    /// `false` if it already has one (LIFE-09).
    pub fn end(&self, task: &Task, state: State) -> bool {
        if !task.end(state, self.ground.now()) {
            return false;
        }
        self.tell(task);
        self.changed.notify_waiters();
        true
    }

    /// Marks a background task as settled: its slow work is done and its notification is enqueued. Every background
    /// task is settled once, by the code that ended it.
    pub fn settle(&self, task: &Task) {
        if task.is_background() && task.settle() {
            debug_assert!(self.unsettled.get() > 0, "a background task is settled once");
            self.unsettled.set(self.unsettled.get().saturating_sub(1));
            self.changed.notify_waiters();
        }
    }

    /// A teammate waits for a message, or continues. While it waits, the session does not wait for it.
    pub fn set_idle(&self, task: &Task, is_idle: bool) {
        if task.set_idle(is_idle) {
            let unsettled = self.unsettled.get();
            self.unsettled.set(if is_idle { unsettled.saturating_sub(1) } else { unsettled + 1 });
            self.ground.emit(&Event::TeammateIdle { agent: task.id.clone(), is_idle });
            self.changed.notify_waiters();
        }
    }

    /// Background tasks that run, or have ended without a notification so far. A headless session waits for them
    /// (QUEUE-14).
    pub fn running(&self) -> usize {
        self.unsettled.get()
    }

    /// Ready when a task has ended or was settled after this call. Call it before checking the condition.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// The final state of a task as soon as it is set, without waiting for slow work (ASYNC-10); `None` for an unknown
    /// id.
    pub async fn ended(&self, id: &str) -> Option<State> {
        loop {
            let changed = self.changed();
            match self.get(id)?.state() {
                State::Running => changed.await,
                state => return Some(state),
            }
        }
    }

    /// Starts a blocking read of `task`. While it lives, the task's end is not reported (NOTIFY-11).
    pub fn reader<'a>(&'a self, task: &'a Task) -> Reader<'a> {
        task.count_reader(true);
        Reader { tasks: self, task }
    }

    /// Ready when no blocking read of `task` is left that could still consume its end: a reader and the notification
    /// wake at the same instant, in any order.
    pub async fn read(&self, task: &Task) {
        loop {
            let changed = self.changed();
            if task.readers() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Stops a running task (`stopTask()`, TASK-10): an agent through its own abort signal (ASYNC-11, ASYNC-12), which
    /// also reaches the children that it waits for; a shell or monitor by ending its process.
    ///
    /// # Errors
    /// If there is no such task or it has ended.
    pub fn kill(&self, id: &str) -> Result<(), NotKilled> {
        let task = self.get(id).ok_or_else(|| NotKilled::Unknown(id.into()))?;
        if task.state() != State::Running {
            return Err(NotKilled::Ended { task: task.id.clone(), state: task.state().name() });
        }
        task.abort().give();
        Ok(())
    }

    /// Stops all running background tasks; returns how many (ASYNC-12, bulk kill).
    pub fn kill_all(&self) -> usize {
        let mut doomed = self.all();
        doomed.retain(|task| task.is_background() && task.state() == State::Running);
        for task in &doomed {
            task.abort().give();
        }
        doomed.len()
    }

    /// The synchronous children that are awaited, outermost first.
    pub fn in_foreground(&self) -> Vec<Rc<Task>> {
        self.foreground.borrow().clone()
    }

    /// The user moves a synchronous child to the background (SYNC-12); `false` if no child with this id is awaited.
    pub fn background(&self, id: &str) -> bool {
        let found = self.foreground.borrow().iter().find(|task| &*task.id == id).cloned();
        found.is_some_and(|task| task.signal().give("user"))
    }

    /// Unregisters a synchronous child that is no longer awaited (`unregisterAgentForeground`, SYNC-20).
    pub fn unregister(&self, task: &Task) {
        self.foreground.borrow_mut().retain(|other| other.id != task.id);
    }

    /// Moves a synchronous child to the background, under the same record (SYNC-09, G27).
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
