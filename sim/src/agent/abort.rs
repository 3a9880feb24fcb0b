//! Abort signals: one for each agent, so that stopping one leaves the others alone (contract ASYNC-11, CTX-18).

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::Notify;

/// A signal that is given at most once a turn and seen by everybody who holds it.
#[derive(Clone, Debug, Default)]
pub struct Abort(Rc<State>);

#[derive(Debug, Default)]
struct State {
    given: Cell<bool>,
    parent: Option<Abort>,
    changed: Notify,
}

impl Abort {
    /// A signal that is given with its parent's too: a synchronous child stops with its parent.
    pub fn child(&self) -> Self {
        Self(Rc::new(State { parent: Some(self.clone()), ..State::default() }))
    }

    /// Gives the signal.
    pub fn give(&self) {
        self.0.given.set(true);
        self.0.changed.notify_waiters();
    }

    /// Takes the signal back: the main agent's next turn begins. Nobody who waits for it may be left.
    pub fn clear(&self) {
        self.0.given.set(false);
    }

    /// Whether it was given.
    pub fn is_given(&self) -> bool {
        self.0.given.get() || self.0.parent.as_ref().is_some_and(Self::is_given)
    }

    /// Ready when it was given, to this signal or one above it.
    pub async fn given(&self) {
        let chain: Vec<&Self> = std::iter::successors(Some(self), |signal| signal.0.parent.as_ref()).collect();
        let mut waiting: Vec<_> = chain.iter().map(|signal| Box::pin(signal.0.changed.notified())).collect();
        for waiting in &mut waiting {
            waiting.as_mut().enable();
        }
        if self.is_given() {
            return;
        }
        std::future::poll_fn(|context| {
            let given = waiting.iter_mut().any(|waiting| waiting.as_mut().poll(context).is_ready());
            if given { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}
