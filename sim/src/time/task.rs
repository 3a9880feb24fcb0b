//! A spawned task as seen by its spawner: its result, and a way to abort it.
//!
//! Both are independent of the runtime, so they mean the same on any: an aborted task is dropped at its next turn.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use pin_project_lite::pin_project;
use thiserror::Error;

use super::handle::Handle;
use super::waiting::{Waiting, What};

/// The task was aborted, or its run ended before it did.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the task was aborted before it ended")]
pub struct Aborted;

/// A spawned task. Awaiting it gives its result; dropping it lets the task continue.
pub struct Task<T> {
    shared: Rc<Shared<T>>,
    name: Rc<str>,
    handle: Handle,
    waiting: Option<Waiting>,
}

impl<T> Task<T> {
    /// Requests the end of the task: at its next turn it is dropped with its destructors, and its result is
    /// [`Aborted`]. A task that has ended keeps its result.
    pub fn abort(&self) {
        self.shared.aborted.set(true);
        let turn = self.shared.turn.take();
        if let Some(turn) = turn {
            turn.wake();
        }
    }

    /// Whether the task has ended or was aborted.
    pub fn is_finished(&self) -> bool {
        self.shared.finished.get()
    }

    /// The name under which it was spawned.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, Aborted>;

    /// The result, once; later polls are always pending.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.shared.result.take();
        if let Some(result) = result {
            self.waiting = None;
            return Poll::Ready(result);
        }
        remember(&self.shared.joiner, cx.waker());
        if self.waiting.is_none() {
            let name = &self.name;
            self.waiting = Some(self.handle.wait_for(|| What::End(Rc::clone(name))));
        }
        Poll::Pending
    }
}

/// State shared by a task and its spawner.
struct Shared<T> {
    result: Cell<Option<Result<T, Aborted>>>,
    finished: Cell<bool>,
    aborted: Cell<bool>,
    /// Wakes the code that awaits the result.
    joiner: RefCell<Option<Waker>>,
    /// Wakes the task itself.
    turn: RefCell<Option<Waker>>,
}

impl<T> Shared<T> {
    fn finish(&self, result: Result<T, Aborted>) {
        self.result.set(Some(result));
        self.finished.set(true);
        let joiner = self.joiner.take();
        if let Some(joiner) = joiner {
            joiner.wake();
        }
    }
}

/// Stores a waker, without cloning it if it is already stored.
fn remember(kept: &RefCell<Option<Waker>>, waker: &Waker) {
    let known = kept.borrow().as_ref().is_some_and(|kept| kept.will_wake(waker));
    if !known {
        let old = kept.replace(Some(waker.clone()));
        drop(old);
    }
}

/// The task's side of the shared state: whatever ends the task, a result is set.
struct Outcome<T>(Rc<Shared<T>>);

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        if !self.0.finished.get() {
            self.0.finish(Err(Aborted));
        }
    }
}

pin_project! {
    /// The future of a task as its runtime polls it. Fields are dropped in this order.
    pub struct Job<F: Future> {
        #[pin]
        future: Option<F>,
        outcome: Outcome<F::Output>,
    }
}

impl<F: Future> Future for Job<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let shared = &this.outcome.0;
        let result = match this.future.as_mut().as_pin_mut() {
            Some(future) if !shared.aborted.get() => {
                remember(&shared.turn, cx.waker());
                Ok(ready!(future.poll(cx)))
            }
            _ => Err(Aborted),
        };
        this.future.set(None);
        shared.finish(result);
        Poll::Ready(())
    }
}

/// Both ends of a new task.
pub fn split<F: Future>(handle: Handle, name: Rc<str>, future: F) -> (Task<F::Output>, Job<F>) {
    let shared = Rc::new(Shared {
        result: Cell::default(),
        finished: Cell::default(),
        aborted: Cell::default(),
        joiner: RefCell::default(),
        turn: RefCell::default(),
    });
    let job = Job { future: Some(future), outcome: Outcome(Rc::clone(&shared)) };
    (Task { shared, name, handle, waiting: None }, job)
}
