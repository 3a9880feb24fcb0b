//! The executor: one thread, and a clock that only moves when no task is ready.
//!
//! 1. The next ready task gets a turn, until none is ready.
//! 2. The clock moves to the earliest timer.
//! 3. All timers of that instant fire in the order in which they were set; then back to 1.
//!
//! So all work of an instant is done before time moves on. If there is neither a ready task nor a timer, the run has
//! stalled and reports which task waits for what. When the main task ends, the others are dropped in spawning order. A
//! task that panics ends the run with that panic.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::Instant;
use super::handle::Handle;
use super::part::{Advanced, Parts};
use super::plan::{Finished, Limits, Plan, Stopped, Waits};
use super::ready::Ready;
use super::tasks::{RunningTask, Tasks, Turns};
use super::timers::Timers;
use super::waiting::What;

/// The state of one run, shared by all of its handles.
pub struct Core {
    now: Cell<Instant>,
    timers: RefCell<Timers>,
    tasks: RefCell<Tasks>,
    ready: RefCell<Ready>,
    /// What tasks wait for, by task number and wait number.
    waits: RefCell<BTreeMap<(u64, u64), What>>,
    waits_begun: Cell<u64>,
    /// The number of the task that has its turn.
    current: Cell<Option<u64>>,
    steps: Cell<u64>,
    timer_events: Cell<u64>,
    closed: Cell<bool>,
    /// The parts of tasks, which are woken separately.
    pub(super) parts: Parts,
}

/// Runs `main` and all tasks it spawns on a virtual clock that starts at zero, until `main` ends.
///
/// # Errors
///
/// [`Stopped`] if the run has stalled, or at a limit of the plan.
///
/// # Panics
///
/// Only with the panic of a task.
pub fn run<T: 'static, F>(plan: &Plan, main: impl FnOnce(Handle) -> F) -> Result<Finished<T>, Stopped>
where
    F: Future<Output = T> + 'static,
{
    let core = Rc::new(Core::new(plan));
    let open = Open(Rc::clone(&core));
    let value = Rc::new(Cell::new(None));
    let future = main(Handle::own(Rc::clone(&core)));
    let slot = Rc::clone(&value);
    core.spawn("main".into(), Box::pin(async move { slot.set(Some(future.await)) }));
    let ended = core.drive(&plan.limits, &value);
    drop(open);
    let at = core.now();
    let steps = core.steps.get();
    let timer_events = core.timer_events.get();
    ended.map(|value| Finished { value, at, steps, timer_events })
}

/// Drops the rest of a run when it is over, also after a panic.
struct Open(Rc<Core>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Core {
    fn new(plan: &Plan) -> Self {
        Self {
            now: Cell::default(),
            timers: RefCell::default(),
            tasks: RefCell::default(),
            ready: RefCell::new(Ready::new(plan.interleave)),
            waits: RefCell::default(),
            waits_begun: Cell::default(),
            current: Cell::default(),
            steps: Cell::default(),
            timer_events: Cell::default(),
            closed: Cell::default(),
            parts: Parts::default(),
        }
    }

    /// The current instant.
    pub fn now(&self) -> Instant {
        self.now.get()
    }

    /// Adds a task at the end of the queue. After the end of the run it is dropped at once.
    pub fn spawn(&self, name: Rc<str>, turns: Turns) {
        if self.closed.get() {
            return;
        }
        let mut tasks = self.tasks.borrow_mut();
        let task = tasks.reserve();
        let signal = self.ready.borrow().admit(task);
        tasks.fill(task, name, signal, turns);
    }

    /// Runs turns and moves the clock until the main task has stored its value.
    fn drive<T>(&self, limits: &Limits, value: &Cell<Option<T>>) -> Result<T, Stopped> {
        let mut last = 0;
        loop {
            let next = self.ready.borrow_mut().next();
            let Some(task) = next else {
                self.advance(limits)?;
                continue;
            };
            if self.steps.get() >= limits.steps {
                return Err(self.out_of_steps(limits.steps, last));
            }
            self.turn(task);
            last = task;
            if let Some(value) = value.take() {
                return Ok(value);
            }
        }
    }

    /// Runs one turn of one task. Nothing is borrowed while it runs.
    fn turn(&self, task: u32) {
        let taken = self.tasks.borrow_mut().take(task);
        let Some(mut taken) = taken else { return };
        self.steps.set(self.steps.get() + 1);
        self.current.set(Some(taken.number));
        self.parts.open(&taken.signal);
        let polled = self.poll(&mut taken);
        self.parts.close();
        self.current.set(None);
        match polled {
            Poll::Pending => self.tasks.borrow_mut().put_back(task, taken),
            Poll::Ready(()) => {
                drop(taken.turns);
                self.tasks.borrow_mut().release(task);
            }
        }
    }

    /// Polls the task if it was itself woken, then its woken parts. If a part yields a value, its consumer continues in
    /// the same turn.
    fn poll(&self, taken: &mut RunningTask) -> Poll<()> {
        let mut is_due = taken.is_whole;
        loop {
            if std::mem::take(&mut is_due) {
                if taken.turns.as_mut().poll(&mut Context::from_waker(&taken.waker)).is_ready() {
                    return Poll::Ready(());
                }
                self.parts.sort_out(None);
            }
            match self.parts.advance() {
                Advanced::None => return Poll::Pending,
                Advanced::Part => {}
                Advanced::Whole => is_due = true,
            }
        }
    }

    /// Moves the clock to the next timer and fires all timers of that instant.
    fn advance(&self, limits: &Limits) -> Result<(), Stopped> {
        let next = self.timers.borrow_mut().next_at();
        let Some(next) = next else {
            return Err(Stopped::Stalled { at: self.now(), waiting: self.waiting() });
        };
        if next > limits.until {
            return Err(Stopped::Time { until: limits.until, next, waiting: self.waiting() });
        }
        self.now.set(next);
        loop {
            let fired = self.timers.borrow_mut().fire(next);
            let Some(waker) = fired else { return Ok(()) };
            self.timer_events.set(self.timer_events.get() + 1);
            waker.wake();
        }
    }

    fn out_of_steps(&self, limit: u64, last: u32) -> Stopped {
        let running =
            self.tasks.borrow().name(last).map_or_else(|| "a finished task".to_owned(), |name| name.to_string());
        Stopped::Steps { limit, at: self.now(), running }
    }

    /// Every unfinished task, with what it waits for.
    fn waiting(&self) -> Waits {
        let waits = self.waits.borrow();
        let said = |number| {
            let said: Vec<String> =
                waits.range((number, 0)..=(number, u64::MAX)).map(|(_, what)| what.to_string()).collect();
            (!said.is_empty()).then(|| said.join(" and "))
        };
        let order = self.tasks.borrow().in_order();
        order.into_iter().map(|(number, _, name)| (name.to_string(), said(number))).collect()
    }

    /// Drops all tasks in spawning order, each outside every borrow, because destructors may use their handles.
    fn close(&self) {
        self.closed.set(true);
        let order = self.tasks.borrow().in_order();
        for (_, task, _) in order {
            let left = self.tasks.borrow_mut().release(task);
            drop(left);
        }
    }

    /// Sets a timer, see [`Timers::set`].
    pub fn set_timer(&self, at: Instant, waker: &Waker) -> u32 {
        self.timers.borrow_mut().set(at, waker.clone())
    }

    /// Makes a timer wake another task.
    pub fn redirect_timer(&self, slot: u32, waker: &Waker) {
        let old = self.timers.borrow_mut().redirect(slot, waker);
        drop(old);
    }

    /// Cancels a timer.
    pub fn cancel_timer(&self, slot: u32) {
        let old = self.timers.borrow_mut().cancel(slot);
        drop(old);
    }

    /// The current task begins a wait; the key ends it. Outside of a turn nothing is recorded.
    pub fn begin_wait(&self, what: What) -> Option<(u64, u64)> {
        let key = (self.current.get()?, self.waits_begun.get());
        self.waits_begun.set(key.1 + 1);
        self.waits.borrow_mut().insert(key, what);
        Some(key)
    }

    /// Ends a wait.
    pub fn end_wait(&self, key: (u64, u64)) {
        self.waits.borrow_mut().remove(&key);
    }
}
