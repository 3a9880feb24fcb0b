//! Simulated models that answer an agent's requests.
//!
//! * [`Model`] is all that an agent sees: it sends a [`Question`] and reads [`Event`]s until the stream ends.
//! * [`Script`] supplies the content in a simulation, without usage and without time. `simulation::Provider`
//!   adds a cache and a clock to a script.
//! * [`event`] holds the grammar of a stream, [`answer`] what a script returns.

pub mod answer;
pub mod event;
mod question;
pub mod recorded;
pub mod scripted;

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

pub use answer::{Answer, Fault, Interruption, Unseen};
pub use event::{Delta, Event, Grammar, Opened, StopReason};
pub use question::Question;
pub use recorded::Recorded;
pub use scripted::Scripted;

use crate::time::Duration;
use crate::wire::Draft;

/// A call in flight.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Replying, CallError>> + 'a>>;

/// The interface between agent and model. An agent reaches a model in no other way (contract LOOP-25).
pub trait Model {
    /// Sends a request. Ready when the first byte of the answer, or a refusal, has arrived. Dropping the future cancels
    /// the request; dropping the reply cancels the rest of the answer.
    fn call(&self, question: Question) -> Calling<'_>;
}

/// An answer that is arriving.
pub struct Replying(Box<dyn Events>);

/// A source of events.
pub trait Events {
    /// The next event; `None` after the last.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>>;
}

impl Replying {
    /// A reply that takes its events from `source`.
    pub fn new(source: Box<impl Events + 'static>) -> Self {
        Self(source)
    }

    /// The next event; `None` after the last.
    ///
    /// # Errors
    /// If the stream broke off.
    pub async fn next(&mut self) -> Option<Result<Event, Broken>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Like [`Self::next`], for manual polling.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>> {
        self.0.poll_next(context)
    }
}

impl fmt::Debug for Replying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replying")
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider refused the request.
    #[error("HTTP {status} {kind}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The provider's error type: `overloaded_error`, `rate_limit_error`, `invalid_request_error`.
        kind: Rc<str>,
        /// The provider's error message.
        message: Rc<str>,
        /// How long the provider asks the client to wait.
        retry_after: Option<Duration>,
    },
    /// The connection was lost before the first byte.
    #[error("the connection was lost before the first byte")]
    Lost,
}

/// How a stream broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The connection was reset.
    #[error("the connection was reset in mid-stream")]
    Reset,
    /// No more data arrived.
    #[error("the stream went silent")]
    Silent,
}

/// A source of answers, without usage and without time.
pub trait Script {
    /// The answer to this question.
    ///
    /// # Errors
    /// If the script has no answer for it. This is a mistake in the scenario and ends the run.
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted>;

    /// The request as the client of a recording sent it, if the script knows: cache, bill and ledger take this one instead
    /// of the agent's draft. Messages are where the agent put them; their bytes are recorded.
    fn verbatim(&mut self, _question: &Question) -> Option<Draft> {
        None
    }
}

/// A question that a script has no answer for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unscripted(pub String);
