//! The query loop: prompt, model, tools, exit checks, until no further call is made (contract LOOP, STREAM, STOP).
//!
//! * `iteration`: the four steps of an iteration (LOOP-02..09, LOOP-12, LOOP-15, LOOP-18).
//! * `compaction`: the first step (COMPACT, STOP-06).
//! * `request`: the request (LOOP-04, LOOP-14, STREAM-16).
//! * `declared`: sizes that a scenario declares for whole parts.
//! * `stream`, `assemble`, `arguments`: one answer as it arrives (STREAM-01..09, LOOP-10, LOOP-17).
//! * `executor`, `call`: tools, during the stream and after it (STREAM-10..17, LOOP-11, LOOP-13, LOOP-23).
//! * `decide`: whether a call is allowed (PERM-09..13).
//! * `retry`: refused and broken calls. `exit`: exit checks (STOP-01..08). `interruption`: the end of an aborted turn.

mod arguments;
mod assemble;
mod call;
mod compaction;
mod decide;
mod declared;
mod executor;
mod exit;
mod generator;
mod interruption;
mod iteration;
mod request;
mod retry;
mod stream;

use std::rc::Rc;

pub use super::settings::Placement;
pub use compaction::{compact_idle, is_idle};
pub use decide::{Decision, can_use, on_behalf};
pub use generator::{Generator, Step, Yielder};

use super::entry::Entry;
use super::session::Context;
use crate::model;
use crate::outside::words;

/// What a loop yields while it runs (LOOP-01, LOOP-10, LOOP-16).
#[derive(Clone)]
pub enum Yielded {
    /// A message of the conversation: an assembled answer, tool results, or a text inserted by the runtime. The result
    /// of a tool that ended during the stream is yielded before that message.
    Entry(Rc<Entry>),
    /// An event of a stream, passed on unchanged.
    Stream(model::Event),
    /// Withdraws a message of which all or part was yielded: its stream broke and the request is repeated.
    Tombstone(Rc<str>),
}

/// How a loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: Reason,
    /// Requests of this loop that were answered.
    pub turns: u32,
    /// The error, with [`Reason::ModelError`].
    pub error: Option<Rc<str>>,
}

words! {
    /// Why a loop ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// No further call was made (STOP-07), or the provider's refusal replaced the answer (STOP-02).
        Completed = "completed",
        /// A stop hook prevented continuation (STOP-03).
        StopHookPrevented = "stop_hook_prevented",
        /// The turn limit was reached (G11).
        MaxTurns = "max_turns",
        /// The abort signal was given.
        Aborted = "aborted",
        /// The connection was lost, or broke in mid-stream, more often than is retried. A provider's refusal is not
        /// such an error but a message ([`Self::Completed`]).
        ModelError = "model_error",
    }
}

/// A running loop.
pub type Query = Generator<Yielded, Ended>;

/// Starts a loop over the conversation of `context`, whose entries hold everything up to the user's message. The loop
/// appends what it yields to those entries.
///
/// If the conversation was taken over in mid-round, its open calls are answered first.
pub fn query(context: Rc<Context>) -> Query {
    Generator::new(move |yielder| iteration::Loop::new(context, yielder).run())
}
