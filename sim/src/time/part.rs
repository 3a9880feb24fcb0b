//! Parts of a task that are woken separately.
//!
//! An agent that waits for another agent runs in the same task, so everything of one instant happens in the order of
//! their code. Polling the whole chain of waiting agents for each event would cost its depth every time. So each agent
//! is a part with its own waker: its event polls only that part, and when it yields a value, its consumer continues in
//! the same turn.
//!
//! Within a turn the order is the same as when everything is polled from the outside in: the task itself, then its
//! woken parts, outer parts and earlier parts first. A part that is woken during the turn is polled in that turn if it
//! comes after the part that woke it, otherwise in the next one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::executor::Core;
use super::ready::Signal;

type StepFn<T> = Box<dyn FnMut(&mut Context<'_>) -> Poll<T>>;

/// A part of a task that yields values to its consumer, and is polled only when it was woken.
///
/// The consumer must poll it with the waker of the task or part that it belongs to, as `select!` does. On another
/// runtime it is polled each time its consumer polls.
pub struct Part<T: 'static> {
    inside: Rc<Inside<T>>,
    core: Option<Rc<Core>>,
}

impl<T: 'static> Part<T> {
    pub(super) fn new(core: Option<Rc<Core>>, step: StepFn<T>) -> Self {
        let id = core.as_ref().map_or(0, |core| core.parts.reserve());
        let inside = Rc::new(Inside {
            place: Rc::new(Place { id, owner: RefCell::default(), is_on_the_way: Cell::default() }),
            step: RefCell::new(Some(step)),
            given: Cell::default(),
            is_due: Cell::new(true),
            is_asked: Cell::default(),
            alarm: Arc::new(Alarm { id, is_set: AtomicBool::default(), task: Mutex::default() }),
        });
        if let Some(core) = &core {
            let part: Rc<dyn Advance> = inside.clone();
            core.parts.known.borrow_mut().insert(id, Rc::downgrade(&part));
        }
        Self { inside, core }
    }

    /// The next value. Dropping the future before it is ready loses nothing; the part continues up to its next value.
    pub async fn next(&mut self) -> T {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Like [`Self::next`], for manual polling.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<T> {
        let Some((core, task)) = self.core.as_ref().and_then(|core| Some((core, core.parts.task.borrow().clone()?)))
        else {
            return self.inside.step(context);
        };
        self.inside.ask(&core.parts, task);
        if let Some(given) = self.inside.given.take() {
            core.parts.giver.set(None);
            return self.inside.hand_out(given);
        }
        if core.parts.giver.get().is_some() {
            return Poll::Pending;
        }
        core.parts.note_woken();
        let is_woken = self.inside.alarm.is_set.swap(false, Ordering::Relaxed);
        let is_due = self.inside.is_due.take() | self.inside.place.is_on_the_way.take();
        if !is_due && !is_woken {
            return Poll::Pending;
        }
        match self.inside.step_within(&core.parts) {
            Poll::Ready(given) => self.inside.hand_out(given),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for Part<T> {
    fn drop(&mut self) {
        if let Some(core) = &self.core {
            core.parts.known.borrow_mut().remove(&self.inside.place.id);
        }
        let step = self.inside.step.take();
        drop(step);
    }
}

/// The position of a part: inside of another one, or directly in a task.
pub struct Place {
    /// Number of the part, in the order of creation.
    id: u64,
    owner: RefCell<Option<Rc<Place>>>,
    /// A part inside it was woken since it was last polled.
    is_on_the_way: Cell<bool>,
}

impl Place {
    fn owner(&self) -> Option<Rc<Self>> {
        self.owner.borrow().clone()
    }

    /// Marks all parts that contain this one, so that they pass on the poll.
    fn mark_way(&self) {
        let mut owner = self.owner();
        while let Some(place) = owner.filter(|place| !place.is_on_the_way.replace(true)) {
            owner = place.owner();
        }
    }

    /// The path from the outermost part to this one.
    fn path(&self) -> Vec<u64> {
        let mut path = vec![self.id];
        let mut owner = self.owner();
        while let Some(place) = owner {
            path.push(place.id);
            owner = place.owner();
        }
        path.reverse();
        path
    }

    /// Whether this part is polled before the other. Parts of one owner are already numbered in that order.
    fn is_before(&self, other: &Self) -> bool {
        let [own, others] = [self.owner(), other.owner()].map(|owner| owner.map(|place| place.id));
        if own == others { self.id < other.id } else { self.path() < other.path() }
    }

    /// Whether the other part is polled after this one and everything inside it.
    fn is_passed_by(&self, other: &Self) -> bool {
        self.is_before(other) && !other.path().starts_with(&self.path())
    }
}

/// A part, shared between its owner and the run that polls it.
struct Inside<T> {
    place: Rc<Place>,
    /// `None` while it is polled, and after it was dropped.
    step: RefCell<Option<StepFn<T>>>,
    /// A value that was not taken yet.
    given: Cell<Option<T>>,
    /// It must be polled at the next request, woken or not: it was never polled, or has yielded a value since.
    is_due: Cell<bool>,
    /// Its next value is requested.
    is_asked: Cell<bool>,
    alarm: Arc<Alarm>,
}

impl<T> Inside<T> {
    /// Records the consumer: the task, and the part of it that is being polled.
    fn ask(&self, parts: &Parts, task: Arc<Signal>) {
        self.is_asked.set(true);
        self.place.owner.replace(parts.polled.borrow().clone());
        *self.alarm.task() = Some(task);
    }

    fn hand_out(&self, given: T) -> Poll<T> {
        self.is_asked.set(false);
        self.is_due.set(true);
        Poll::Ready(given)
    }

    fn step(&self, context: &mut Context<'_>) -> Poll<T> {
        let Some(mut step) = self.step.take() else { return Poll::Pending };
        let stepped = step(context);
        self.step.replace(Some(step));
        stepped
    }

    /// A step with its own waker, as the part that is being polled.
    fn step_within(&self, parts: &Parts) -> Poll<T> {
        let around = parts.polled.replace(Some(Rc::clone(&self.place)));
        let waker = Waker::from(Arc::clone(&self.alarm));
        let stepped = self.step(&mut Context::from_waker(&waker));
        parts.polled.replace(around);
        stepped
    }
}

/// A part as seen by the run, with values of any type.
trait Advance {
    fn place(&self) -> &Rc<Place>;

    /// Whether it was woken in this task and not polled since.
    fn is_woken(&self, task: &Arc<Signal>) -> bool;

    /// Polls it if its next value is requested and none is pending; returns whether it yields one now.
    fn advance(&self, parts: &Parts) -> bool;
}

impl<T> Advance for Inside<T> {
    fn place(&self) -> &Rc<Place> {
        &self.place
    }

    fn is_woken(&self, task: &Arc<Signal>) -> bool {
        self.alarm.is_set.load(Ordering::Relaxed)
            && self.alarm.task().as_ref().is_some_and(|own| Arc::ptr_eq(own, task))
    }

    fn advance(&self, parts: &Parts) -> bool {
        let given = self.given.take();
        let is_waiting = given.is_some();
        self.given.set(given);
        if is_waiting || !self.is_asked.get() {
            return false;
        }
        self.alarm.is_set.store(false, Ordering::Relaxed);
        match self.step_within(parts) {
            Poll::Ready(given) => {
                self.given.set(Some(given));
                true
            }
            Poll::Pending => false,
        }
    }
}

/// The waker of one part. Waking it again before it was polled does nothing.
struct Alarm {
    id: u64,
    is_set: AtomicBool,
    /// The task of the part, once it was first polled.
    task: Mutex<Option<Arc<Signal>>>,
}

impl Alarm {
    fn task(&self) -> MutexGuard<'_, Option<Arc<Signal>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_set.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(task) = &*self.task() {
            task.wake_part(self.id);
        }
    }
}

/// What to poll next in a turn.
pub enum Advanced {
    /// Nothing: the turn is over.
    None,
    /// Perhaps another part.
    Part,
    /// The task itself.
    Whole,
}

/// The parts of all tasks of a run.
#[derive(Default)]
pub struct Parts {
    known: RefCell<BTreeMap<u64, Weak<dyn Advance>>>,
    begun: Cell<u64>,
    /// The task that has its turn.
    task: RefCell<Option<Arc<Signal>>>,
    /// The part that is being polled.
    polled: RefCell<Option<Rc<Place>>>,
    /// The part whose value is on its way to its consumer. Anything polled before it has had its turn.
    giver: Cell<Option<u64>>,
    /// Woken parts to be polled in this turn.
    due: RefCell<Vec<Rc<dyn Advance>>>,
    /// Parts that were woken while something was polled.
    woken: RefCell<Vec<u64>>,
    /// Woken parts that wait for the next turn.
    left: RefCell<Vec<u64>>,
}

impl Parts {
    fn reserve(&self) -> u64 {
        let id = self.begun.get();
        self.begun.set(id + 1);
        id
    }

    /// Starts the turn of a task.
    pub fn open(&self, task: &Arc<Signal>) {
        self.task.replace(Some(Arc::clone(task)));
        self.giver.set(None);
        self.note_woken();
        let mut woken = self.woken.borrow_mut();
        self.due.borrow_mut().extend(woken.drain(..).filter_map(|id| self.part(id)));
    }

    /// Takes over the parts that were woken since.
    fn note_woken(&self) {
        let task = self.task.borrow();
        let Some(task) = &*task else { return };
        for id in task.parts().drain(..) {
            if let Some(part) = self.part(id) {
                part.place().mark_way();
                self.woken.borrow_mut().push(id);
            }
        }
    }

    /// Ends the turn.
    pub fn close(&self) {
        self.due.borrow_mut().clear();
        if let Some(task) = self.task.take() {
            task.parts().append(&mut self.left.borrow_mut());
        }
    }

    /// Polls the next woken part of the task.
    pub fn advance(&self) -> Advanced {
        let Some(part) = self.next() else { return Advanced::None };
        let mut gives = part.advance(self);
        self.sort_out(Some(part.place()));
        let mut place = Rc::clone(part.place());
        // The consumer of a value continues at once, as if it had polled the part itself.
        while gives {
            self.giver.set(Some(place.id));
            let Some(owner) = place.owner() else { return Advanced::Whole };
            gives = self.part(owner.id).is_some_and(|waiting| waiting.advance(self));
            self.sort_out(Some(&owner));
            place = owner;
        }
        Advanced::Part
    }

    /// Sorts the parts that were woken while `polled` was polled (`None`: the task itself). Parts after it are polled
    /// in this turn, as if everything was polled in order; all others have had their turn.
    pub fn sort_out(&self, polled: Option<&Rc<Place>>) {
        self.giver.set(None);
        self.note_woken();
        for id in self.woken.take() {
            // If it was also woken earlier, it has been polled since.
            self.due.borrow_mut().retain(|part| part.place().id != id);
            let part = polled.and_then(|polled| self.part(id).filter(|part| polled.is_passed_by(part.place())));
            match part {
                Some(part) => self.due.borrow_mut().push(part),
                None => self.left.borrow_mut().push(id),
            }
        }
    }

    fn part(&self, id: u64) -> Option<Rc<dyn Advance>> {
        self.known.borrow().get(&id)?.upgrade()
    }

    /// The first woken part. Parts that now belong to another task are forgotten, as are parts that their consumers
    /// have polled since.
    fn next(&self) -> Option<Rc<dyn Advance>> {
        let task = self.task.borrow().clone()?;
        let mut due = self.due.borrow_mut();
        due.retain(|part| part.is_woken(&task));
        let mut first = 0;
        for (at, part) in due.iter().enumerate().skip(1) {
            if part.place().is_before(due[first].place()) {
                first = at;
            }
        }
        (!due.is_empty()).then(|| due.swap_remove(first))
    }
}
