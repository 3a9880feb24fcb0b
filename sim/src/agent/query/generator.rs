//! An asynchronous generator: yields values and ends with a result. Dropping it is its return path: whatever guards
//! the body holds do their work (contract SYNC-08).

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A body that yields `Y`s and ends with an `R`.
pub struct Generator<Y, R> {
    body: Pin<Box<dyn Future<Output = R>>>,
    slot: Rc<RefCell<Option<Y>>>,
    done: bool,
}

/// A step of a generator.
#[derive(Debug)]
pub enum Step<Y, R> {
    /// A value, and there may be more.
    Yielded(Y),
    /// The end.
    Ended(R),
}

/// What the body yields with.
pub struct Yielder<Y>(Rc<RefCell<Option<Y>>>);

impl<Y> Clone for Yielder<Y> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Y> Yielder<Y> {
    /// Hands `value` out and waits until it was taken.
    pub async fn give(&self, value: Y) {
        *self.0.borrow_mut() = Some(value);
        // The consumer takes the value after this poll; a body that is polled with the slot still full waits.
        std::future::poll_fn(|_| if self.0.borrow().is_some() { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

impl<Y, R> Generator<Y, R> {
    /// A generator with this body.
    pub fn new<F: Future<Output = R> + 'static>(body: impl FnOnce(Yielder<Y>) -> F) -> Self {
        let slot = Rc::new(RefCell::new(None));
        Self { body: Box::pin(body(Yielder(slot.clone()))), slot, done: false }
    }

    /// The next value, or the end. It may be dropped before it is ready: nothing is lost.
    ///
    /// # Panics
    /// When it is called after the end.
    pub async fn next(&mut self) -> Step<Y, R> {
        std::future::poll_fn(|context| self.poll_step(context)).await
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step<Y, R>> {
        assert!(!self.done, "a generator was asked again after its end");
        let polled = self.body.as_mut().poll(context);
        // A value given in the very poll that ended the body cannot exist: giving waits for the taking.
        match (self.slot.borrow_mut().take(), polled) {
            (Some(value), _) => Poll::Ready(Step::Yielded(value)),
            (None, Poll::Ready(result)) => {
                self.done = true;
                Poll::Ready(Step::Ended(result))
            }
            (None, Poll::Pending) => Poll::Pending,
        }
    }
}
