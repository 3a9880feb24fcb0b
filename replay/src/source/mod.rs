//! Where requests come from: which of them share a cache, in which order they reach it, and what is known of each.
//!
//! The bill, the what-ifs and the prefix guard all ask here (`design.md` 3, *Scope and order*):
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
//! * [`order`]: streams of recorded exchanges, for whoever has all of them in memory.
//! * [`feed()`]: reads files and folders and hands every request that a cache could see to a [`Sink`], with what is known of
//!   it; memory is that of one file, of those recordings that overlap in time, and of what the sink keeps. Instants are
//!   left out where no profile holds the lifetimes.

pub mod exchange;
mod feed;
mod layout;
pub(crate) mod names;
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

use crate::exchange::Origin;

/// Who eats requests in the order in which they were sent.
pub trait Sink {
    /// Takes a body.
    ///
    /// # Errors
    /// When it is no request; the stream goes on behind it.
    fn body(&mut self, origin: &Origin, sent: &Sent<'_>) -> Result<(), BodyError>;

    /// A recording begins whose requests were read into a wire of their own.
    fn begin(&mut self) {}

    /// Takes a request that was rebuilt from a transcript or a trace: of its blocks outlines are known, and what a
    /// transcript does not show is an opaque block.
    fn rebuilt(&mut self, origin: &Origin, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>);
}
