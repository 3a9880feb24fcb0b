//! The query loop: prompt, model, tools, exit checks, until nothing more is asked for (contract LOOP, STREAM, STOP).
//!
//! * `iteration`: the four steps of an iteration (LOOP-02..09, LOOP-12, LOOP-15, LOOP-18).
//! * `request`: what is sent (LOOP-04, LOOP-14, STREAM-16).
//! * `declared`: sizes that a scenario gives whole parts.
//! * `stream`, `assemble`, `arguments`: one answer as it arrives (STREAM-01..09, LOOP-10, LOOP-17).
//! * `executor`, `call`: tools, during the stream and behind it (STREAM-10..17, LOOP-11, LOOP-13, LOOP-23).
//! * `decide`: whether a call may be made (PERM-09..13).
//! * `retry`: refused and broken calls. `exit`: exit checks (STOP-01..08). `interruption`: what an abort leaves.

mod arguments;
mod assemble;
mod call;
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
pub use decide::{Decision, can_use};
pub use generator::{Generator, Step, Yielder};

use super::entry::Entry;
use super::session::Context;
use crate::model;
use crate::outside::words;

/// What a loop yields on its way (LOOP-01, LOOP-10, LOOP-16).
#[derive(Clone)]
pub enum Yielded {
    /// A message of the conversation: assembled assistant messages, results of tools, what the runtime inserted. The result
    /// of a tool that ended while its message still streamed comes before that message.
    Entry(Rc<Entry>),
    /// An event of a stream, passed on as it came.
    Stream(model::Event),
    /// A message that was yielded, or of which a part was, counts no more: its stream broke and it is asked for again.
    Tombstone(Rc<str>),
}

/// How a loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: Reason,
    /// Requests that were answered in this loop.
    pub turns: u32,
    /// What went wrong, with [`Reason::ModelError`].
    pub error: Option<Rc<str>>,
}

words! {
    /// Why a loop ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// Nothing more was asked for (STOP-07), or the provider's refusal stands in the place of an answer (STOP-02).
        Completed = "completed",
        /// A stop hook forbade to go on (STOP-03).
        StopHookPrevented = "stop_hook_prevented",
        /// The limit of turns was reached (G11).
        MaxTurns = "max_turns",
        /// The abort signal was given.
        Aborted = "aborted",
        /// No answer could be had: the connection was lost, or broke in mid-stream, more often than is tried. What the provider
        /// refuses is no such error: it is a message ([`Self::Completed`]).
        ModelError = "model_error",
    }
}

/// A loop under way.
pub type Query = Generator<Yielded, Ended>;

/// Begins a loop over the conversation of `context`, whose entries hold everything up to and including the user's
/// message. The loop appends what it yields to those entries itself.
///
/// Calls at the end of the conversation that have no result yet (it was taken over in the middle of a round) are answered
/// first.
pub fn query(context: Rc<Context>) -> Query {
    Generator::new(move |yielder| iteration::Loop::new(context, yielder).run())
}
