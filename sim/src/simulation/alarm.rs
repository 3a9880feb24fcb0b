//! What ends a run before its time: a question without an answer, or a broken law.

use std::cell::RefCell;

use tokio::sync::Notify;

use crate::model::Unscripted;
use crate::time::Instant;

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// An agent asked something that no script answers.
    #[error(transparent)]
    Unscripted(Unscripted),
    /// The model has answered as often as it may.
    #[error(
        "stopped at {} ms after {limit} answers of the model. Look for an agent that never ends, or raise the limit of turns",
        .at.0 / 1_000_000
    )]
    Turns {
        /// The limit.
        limit: u64,
        /// When.
        at: Instant,
    },
    /// A law does not hold.
    #[error("law `{law}` is broken at {} ms: {why}", .at.0 / 1_000_000)]
    BrokenLaw {
        /// The law.
        law: &'static str,
        /// When.
        at: Instant,
        /// What is wrong.
        why: String,
    },
}

/// Rings once; what rang first is kept.
#[derive(Debug, Default)]
pub struct Alarm {
    cause: RefCell<Option<Cause>>,
    rung: Notify,
}

impl Alarm {
    /// Rings.
    pub fn ring(&self, cause: Cause) {
        self.cause.borrow_mut().get_or_insert(cause);
        self.rung.notify_waiters();
    }

    /// Why it rang, if it did.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.borrow().clone()
    }

    /// Ready when it rang.
    pub async fn rung(&self) -> Cause {
        loop {
            let rung = self.rung.notified();
            if let Some(cause) = self.cause() {
                return cause;
            }
            rung.await;
        }
    }
}
