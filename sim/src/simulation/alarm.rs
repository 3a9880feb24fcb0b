//! Why a run is stopped early: a question without an answer, or a broken law.

use std::cell::RefCell;

use tokio::sync::Notify;

use crate::model::Unscripted;
use crate::time::Instant;

/// Why a run cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// An agent sent a request for which no script has an answer.
    #[error(transparent)]
    Unscripted(Unscripted),
    /// The model has given the maximum number of answers.
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
        /// The violation.
        why: String,
    },
}

/// An alarm that rings once; only the first reason is kept.
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

    /// Ready as soon as it rings.
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
