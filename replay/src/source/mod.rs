//! The sources of requests: which requests share a cache, in which order they reach it, and facts about each.
//!
//! The bill, the what-ifs and the prefix guard all use these (`design.md` 3, *Scope and order*):
//!
//! | input | scope | chain | instants |
//! |---|---|---|---|
//! | folder of bodies | the folder | a subfolder each; else by history | in order of file names, one second apart |
//! | bodies named one by one | all of them together | by history | the same |
//! | recording with instants | the named path | ids of session and agent; else by history | as recorded |
//! | recording without | the file | the same | one second apart |
//! | transcript | the session | its agents | as recorded |
//! | trace of servers | the trace | its conversations | as recorded |
//!
//! Platforms and organisations share nothing, whatever the scope.
//!
//! * [`order`]: streams of recorded exchanges that are all in memory.
//! * [`feed()`]: reads files and folders and passes every request that a cache could see to a [`Sink`], with the known facts;
//!   memory is that of one file, of the recordings that overlap in time, and of the sink. Instants are omitted if no profile
//!   has the lifetimes.

pub mod exchange;
mod feed;
mod layout;
pub mod order;
mod remarks;
mod scope;
mod trace;
pub(crate) mod transcript;

use forkcast_sim::guard::{Facts, Sent};
use forkcast_sim::wire::{BodyError, Request, Wire};

pub use feed::{Fed, Foreign, feed, feed_inputs};
pub use remarks::Remarks;
pub use scope::Scope;
pub(crate) use scope::Scopes;
pub use transcript::Shares;

use crate::exchange::Origin;
use crate::input::Inputs;
use crate::transcript::Session;

/// A consumer of requests, in the order in which they were sent.
pub trait Sink {
    /// Takes a body. It is an error if it is not a request; the stream continues after it.
    fn body(&mut self, origin: &Origin, sent: &Sent<'_>) -> Result<(), BodyError>;

    /// The provider refused a request because of the thinking in it, with this message; its body is not taken.
    fn refused(&mut self, _origin: &Origin, _chain: Option<&str>, _message: &str) {}

    /// A recording begins whose requests have their own wire.
    fn begin(&mut self) {}

    /// The next recording is the session `at` of `inputs`.
    fn session(&mut self, _inputs: &Inputs, _at: usize, _session: &Session) {}

    /// Takes a request that was rebuilt from a transcript or a trace: only outlines of its blocks are known, and the hidden
    /// part of a transcript is an opaque block.
    fn rebuilt(&mut self, origin: &Origin, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>);
}
