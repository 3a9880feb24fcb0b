//! The query loop: prompt, model, tools, exit checks, until nothing more is asked for (contract LOOP, STREAM, STOP).

mod generator;
mod placement;

use std::rc::Rc;

pub use generator::{Generator, Step, Yielder};
pub use placement::Placement;

use super::context::Context;
use super::entry::Entry;
use crate::model;

/// What a loop yields on its way (LOOP-01, LOOP-10, LOOP-16).
#[derive(Clone)]
pub enum Yielded {
    /// A message of the conversation: assembled assistant messages, results of tools, what the runtime inserted.
    Entry(Rc<Entry>),
    /// An event of a stream, passed on as it came.
    Stream(model::Event),
    /// A message that was yielded counts no more: its stream broke and it is asked for again.
    Tombstone(Rc<str>),
}

/// How a loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: Reason,
    /// Requests that were answered.
    pub turns: u32,
}

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing more was asked for (STOP-07), or an API error stands in the place of an answer (STOP-02).
    Completed,
    /// A stop hook forbade to go on (STOP-03).
    StopHookPrevented,
    /// The limit of turns was reached (G11).
    MaxTurns,
    /// The abort signal was given.
    Aborted,
    /// The API failed for good.
    ModelError,
}

impl Reason {
    /// The word in logs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::StopHookPrevented => "stop_hook_prevented",
            Self::MaxTurns => "max_turns",
            Self::Aborted => "aborted",
            Self::ModelError => "model_error",
        }
    }
}

/// A loop under way.
pub type Query = Generator<Yielded, Ended>;

/// Begins a loop over the conversation of `context`, whose entries hold everything up to and including the user's
/// message. The loop appends what it yields to those entries itself.
pub fn query(context: Rc<Context>) -> Query {
    Generator::new(move |_yielder| async move {
        let turns = context.turns.get();
        Ended { reason: Reason::Completed, turns }
    })
}
