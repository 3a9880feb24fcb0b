//! Who answers: models that an agent asks, none of which is real.
//!
//! * [`Model`] is all that an agent knows: it asks a [`Question`] and takes [`Event`]s until the stream ends.
//! * [`Script`] is what stands behind it in a simulation: content without usage and without time. `simulation::Provider`
//!   puts a script behind a cache and a clock; [`ScriptPlayer`] plays one as it is, for tests of agents alone.
//! * [`event`] holds the grammar of a stream, [`answer`] what a script says.

pub mod answer;
pub mod event;
pub mod generated;
mod player;
mod question;
pub mod recorded;
pub mod scripted;

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

pub use answer::{Answer, Fault, Interruption};
pub use event::{Delta, Event, Grammar, Opened, StopReason};
pub use generated::Generated;
pub use player::ScriptPlayer;
pub use question::Question;
pub use recorded::Recorded;
pub use scripted::Scripted;

use crate::time::Duration;

/// A call on its way.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Replying, CallError>> + 'a>>;

/// What an agent asks, and nothing else reaches a model (contract LOOP-25).
pub trait Model {
    /// Sends a request; ready when the first byte of the answer, or a refusal, is there. Dropping the future gives the
    /// request up, dropping the reply gives the rest of the answer up.
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
    pub fn new(source: impl Events + 'static) -> Self {
        Self(Box::new(source))
    }

    /// The next event; `None` after the last.
    ///
    /// # Errors
    /// When the stream broke off.
    pub async fn next(&mut self) -> Option<Result<Event, Broken>> {
        std::future::poll_fn(|context| self.0.poll_next(context)).await
    }
}

impl fmt::Debug for Replying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replying")
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider said no.
    #[error("HTTP {status} {kind}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The provider's word: `overloaded_error`, `rate_limit_error`, `invalid_request_error`.
        kind: Rc<str>,
        /// The provider's sentence.
        message: Rc<str>,
        /// How long it asks to wait.
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
    /// Nothing more came.
    #[error("the stream went silent")]
    Silent,
}

/// Content without usage and time.
pub trait Script {
    /// What is said to this question.
    ///
    /// # Errors
    /// When the script has nothing to say to it: a mistake in the scenario, which ends the run.
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted>;
}

/// A question that a script has no answer for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unscripted(pub String);
