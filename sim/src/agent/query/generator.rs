//! An asynchronous generator: yields values and ends with a result. Dropping it is its return path and runs the guards
//! of the body (contract SYNC-08).

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Stack for one level of nested agents; an unoptimised build needs 40 KB.
const LEVEL_BYTES: usize = 256 << 10;

/// Stack that is added if less than [`LEVEL_BYTES`] is left.
const GROWTH_BYTES: usize = 4 << 20;

/// A body that yields `Y`s and ends with an `R`.
///
/// The body of an agent that waits for another agent polls and drops that agent's body. The stack grows if little is
/// left, because agents may be nested as deeply as the scenario says.
pub struct Generator<Y, R> {
    /// `None` after the drop.
    body: Option<Pin<Box<dyn Future<Output = R>>>>,
    slot: Rc<RefCell<Option<Y>>>,
    done: bool,
}

/// A step of a generator.
#[derive(Debug)]
pub enum Step<Y, R> {
    /// A value; more may follow.
    Yielded(Y),
    /// The end.
    Ended(R),
}

/// The body's handle to yield values.
pub struct Yielder<Y>(Rc<RefCell<Option<Y>>>);

impl<Y> Clone for Yielder<Y> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Y> Yielder<Y> {
    /// Yields `value`. Ready when it was taken; to be awaited at once. The value is not part of the future, because
    /// each future that awaits it, up to the agent's whole loop, would be as much larger.
    pub fn give(&self, value: Y) -> Given<'_, Y> {
        *self.0.borrow_mut() = Some(value);
        Given(&self.0)
    }
}

/// A value that was yielded.
#[must_use = "the body must wait until the value is taken"]
pub struct Given<'a, Y>(&'a RefCell<Option<Y>>);

impl<Y> Future for Given<'_, Y> {
    type Output = ();

    /// The consumer takes the value after this poll; a body that is polled with a full slot waits.
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.borrow().is_some() { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl<Y, R> Generator<Y, R> {
    /// A generator with this body.
    pub fn new<F: Future<Output = R> + 'static>(body: impl FnOnce(Yielder<Y>) -> F) -> Self {
        let slot = Rc::new(RefCell::new(None));
        Self { body: Some(Box::pin(body(Yielder(slot.clone())))), slot, done: false }
    }

    /// The next value, or the end. Dropping the future before it is ready loses nothing.
    ///
    /// # Panics
    /// If it is called after the end.
    pub async fn next(&mut self) -> Step<Y, R> {
        assert!(!self.done, "a generator was polled after its end");
        std::future::poll_fn(|context| self.poll_step(context)).await
    }

    /// Like [`Self::next`], for manual polling; always pending after the end.
    pub fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step<Y, R>> {
        let Some(body) = self.body.as_mut().filter(|_| !self.done) else { return Poll::Pending };
        let polled = stacker::maybe_grow(LEVEL_BYTES, GROWTH_BYTES, || body.as_mut().poll(context));
        // Yielding waits until the value is taken, so no value can be pending when the body ends.
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

impl<Y, R> Drop for Generator<Y, R> {
    fn drop(&mut self) {
        let body = self.body.take();
        stacker::maybe_grow(LEVEL_BYTES, GROWTH_BYTES, || drop(body));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::{Generator, Step};

    /// A generator that passes on the values of `depth` nested generators.
    fn nested(depth: u32) -> Generator<u32, ()> {
        Generator::new(move |yielder| async move {
            if depth == 0 {
                yielder.give(7).await;
                return std::future::pending().await;
            }
            let mut below = nested(depth - 1);
            while let Step::Yielded(value) = below.next().await {
                yielder.give(value).await;
            }
        })
    }

    #[test]
    fn generators_can_be_nested_deeper_than_the_stack_allows() {
        let mut generator = nested(20_000);
        let mut context = Context::from_waker(Waker::noop());
        let given = pin!(generator.next()).poll(&mut context);
        assert!(matches!(given, Poll::Ready(Step::Yielded(7))));
        drop(generator);
    }
}
