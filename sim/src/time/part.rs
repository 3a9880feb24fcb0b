//! Parts of a task that are woken by themselves.
//!
//! An agent that waits for another one is one task with it: everything of one instant happens in the order of their code.
//! Polling the whole chain of waiting agents for each event would cost its depth every time. So each agent is a part with a
//! waker of its own: its event polls it alone, and who waits for it goes on, in the same turn, when it gives something.
//!
//! Within a turn the order is that of polling everything from the outside in: the task itself, then its woken parts, those
//! further out and begun earlier first. A part that is woken within the turn has its own in it if it comes after that which
//! woke it, else in the next one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::executor::Core;
use super::ready::Signal;

type StepFn<T> = Box<dyn FnMut(&mut Context<'_>) -> Poll<T>>;

/// A part of a task that gives one value after another to who waits for it, and is polled only when it was woken.
///
/// Whoever asks it must poll it with the waker of the task or part that it belongs to, as `select!` does. On another
/// runtime it is polled each time that it is asked.
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

    /// The next value. It may be dropped before it is ready: nothing is lost, and the part goes on as far as its next value.
    pub async fn next(&mut self) -> T {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<T> {
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
    /// Parts are numbered as they are begun.
    id: u64,
    owner: RefCell<Option<Rc<Place>>>,
    /// A part inside of it was woken since it was polled last.
    is_on_the_way: Cell<bool>,
}

impl Place {
    fn owner(&self) -> Option<Rc<Self>> {
        self.owner.borrow().clone()
    }

    /// Whoever is asked on the way to this part passes the question on.
    fn mark_way(&self) {
        let mut owner = self.owner();
        while let Some(place) = owner.filter(|place| !place.is_on_the_way.replace(true)) {
            owner = place.owner();
        }
    }

    /// From the outermost part to this one.
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

    /// Whether this one is polled before the other. Parts of one owner are numbered in that order already.
    fn is_before(&self, other: &Self) -> bool {
        let [own, others] = [self.owner(), other.owner()].map(|owner| owner.map(|place| place.id));
        if own == others { self.id < other.id } else { self.path() < other.path() }
    }

    /// Whether the other one is polled when this one, with all that is inside of it, has been.
    fn is_passed_by(&self, other: &Self) -> bool {
        self.is_before(other) && !other.path().starts_with(&self.path())
    }
}

/// A part, shared between who owns it and the run that polls it.
struct Inside<T> {
    place: Rc<Place>,
    /// `None` while it is polled, and once it was dropped.
    step: RefCell<Option<StepFn<T>>>,
    /// A value that was not taken yet.
    given: Cell<Option<T>>,
    /// It is to be polled when it is asked next, woken or not: it was never polled, or has given something since.
    is_due: Cell<bool>,
    /// Somebody waits for its next value.
    is_asked: Cell<bool>,
    alarm: Arc<Alarm>,
}

impl<T> Inside<T> {
    /// Notes who asks: the task, and the part of it that is polled now.
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

    /// A step with the waker of its own, as the part that is polled now.
    fn step_within(&self, parts: &Parts) -> Poll<T> {
        let around = parts.polled.replace(Some(Rc::clone(&self.place)));
        let waker = Waker::from(Arc::clone(&self.alarm));
        let stepped = self.step(&mut Context::from_waker(&waker));
        parts.polled.replace(around);
        stepped
    }
}

/// A part to the run that polls it, whatever it gives.
trait Advance {
    fn place(&self) -> &Rc<Place>;

    /// Whether it was woken in this task and not polled since.
    fn is_woken(&self, task: &Arc<Signal>) -> bool;

    /// Polls it if somebody waits for it and it has given nothing since; says whether it gives something now.
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

/// How one part is woken. Waking it again before it was polled does nothing.
struct Alarm {
    id: u64,
    is_set: AtomicBool,
    /// The task that the part belongs to, as far as it was asked already.
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

/// What is to be polled next in a turn.
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
    /// The part that is polled now.
    polled: RefCell<Option<Rc<Place>>>,
    /// The part that has given something which is on its way to who waits for it: whoever is asked before had its turn.
    giver: Cell<Option<u64>>,
    /// Woken parts that are polled in this turn.
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

    /// The turn of a task begins.
    pub fn open(&self, task: &Arc<Signal>) {
        self.task.replace(Some(Arc::clone(task)));
        self.giver.set(None);
        self.note_woken();
        let woken = self.woken.take();
        self.due.borrow_mut().extend(woken.into_iter().filter_map(|id| self.part(id)));
    }

    /// Takes over what was woken since.
    fn note_woken(&self) {
        let Some(task) = self.task.borrow().clone() else { return };
        for id in task.parts().drain(..) {
            if let Some(part) = self.part(id) {
                part.place().mark_way();
                self.woken.borrow_mut().push(id);
            }
        }
    }

    /// The turn is over.
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
        // Who waits for what it gives goes on at once, as if it had polled it.
        while gives {
            self.giver.set(Some(place.id));
            let Some(owner) = place.owner() else { return Advanced::Whole };
            gives = self.part(owner.id).is_some_and(|waiting| waiting.advance(self));
            self.sort_out(Some(&owner));
            place = owner;
        }
        Advanced::Part
    }

    /// What was woken while this part was polled (none: the task itself). A part after it has its turn in this one, as if
    /// everything was polled in order; all others had theirs.
    pub fn sort_out(&self, polled: Option<&Rc<Place>>) {
        self.giver.set(None);
        self.note_woken();
        for id in self.woken.take() {
            // It was polled since, if it was woken before too.
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

    /// The first woken part. Parts that belong to another task by now, and those that were polled since by who waits for
    /// them, are forgotten.
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
