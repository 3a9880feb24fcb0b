//! Whose history a request replaced, without ids and without any message that continues.
//!
//! Such a request is no beginning if it contains a model's message, or text with which clients and providers replace a
//! history. Only tools and system prompt can show which chain it belongs to. They may have changed together with the
//! history, because many clients load their tools and render their prompt again when they compact; the less similar
//! they are, the stronger the evidence of a replaced history must be. If two chains are possible, neither is chosen: a
//! missed break is reported as a note, whereas a false one would fail a build.

use std::collections::BTreeSet;

use super::lanes::messages;
use super::resemblance::{Likeness, is_same_head, likeness, said};
use crate::diagnosis::{could_be_summary, is_summary};
use crate::wire::{BlockId, ChainId, Request, Role, Wire};

/// Evidence that a request's first message was not the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// A user's text begins like a known client's summary, or a block is a provider's.
    Summary,
    /// It contains a model's message. So do examples given to a new agent, and a recording that began late.
    Words,
    /// A user's text begins like many summaries; a question may too.
    Opening,
    /// Such a text together with a model's message.
    OpeningAndWords,
}

impl Trace {
    /// The strongest evidence in `request`.
    pub fn of(wire: &Wire, request: &Request) -> Option<Self> {
        let blocks = &wire.blocks;
        let holds = |what: &dyn Fn(BlockId) -> bool| said(wire, request).any(|(_, block)| what(block));
        if holds(&|block| is_summary(blocks, block)) {
            return Some(Self::Summary);
        }
        let opens = holds(&|block| could_be_summary(blocks, block));
        match (opens, holds(&|block| blocks.role(block) == Role::Assistant)) {
            (true, true) => Some(Self::OpeningAndWords),
            (true, false) => Some(Self::Opening),
            (false, true) => Some(Self::Words),
            (false, false) => None,
        }
    }
}

/// Most chains whose tools and system prompts are compared byte by byte, the latest first. An older chain counts as
/// ended, unless its head is exactly the same.
const COMPARED_MAX: usize = 32;

/// A history has at least this many times as many messages as its replacement.
const SHORTER: usize = 2;

/// The chains among `known` (latest first) most similar to `request`, and their similarity.
pub(super) fn most_alike<'a, I: Iterator<Item = (ChainId, &'a Request)>>(
    wire: &Wire,
    request: &Request,
    known: impl Fn() -> I,
) -> Option<(Likeness, Vec<(ChainId, &'a Request)>)> {
    let same: Vec<_> = known().filter(|(_, last)| is_same_head(last, request)).collect();
    if !same.is_empty() {
        return Some((Likeness::Same, same));
    }
    let alike = known().take(COMPARED_MAX).filter_map(|known| Some((likeness(wire, known.1, request)?, known)));
    let alike: Vec<_> = alike.collect();
    let most = alike.iter().map(|(likeness, _)| *likeness).max()?;
    Some((most, alike.into_iter().filter(|(likeness, _)| *likeness == most).map(|(_, known)| known).collect()))
}

/// The one chain among `known` with the history that `request` replaced, given this evidence and similarity.
pub(super) fn only(
    wire: &Wire,
    request: &Request,
    trace: Trace,
    likeness: Likeness,
    known: &[(ChainId, &Request)],
) -> Option<ChainId> {
    // With exactly the same head, the agent is assumed to have spoken before the recording began.
    let is_believed = matches!(trace, Trace::Words | Trace::OpeningAndWords) && likeness == Likeness::Same;
    let mut spoken = known.iter().filter(|(_, last)| is_believed || Trace::of(wire, last).is_some());
    let (chain, last) = spoken.next().filter(|_| spoken.next().is_none())?;
    let is_meant = match (trace, likeness) {
        (Trace::Summary, _) => true,
        // In a log that begins late, other conversations of the same agent begin with an answer too.
        (Trace::Words, Likeness::Same) => is_condensed(wire, request, last) || repeats_some(wire, request, last),
        (Trace::OpeningAndWords, Likeness::Same | Likeness::Alike) => true,
        // The beginning of a summary in its own words is unknown; but a summary is shorter than the text it replaces.
        (Trace::Words, Likeness::Alike) | (Trace::Opening, Likeness::Same | Likeness::Alike) => {
            is_shorter(request, last)
        }
        (_, Likeness::Partial) => false,
    };
    is_meant.then_some(*chain)
}

/// Whether a block of one is in the other.
fn repeats_some(wire: &Wire, request: &Request, last: &Request) -> bool {
    /// Shorter texts are common: "Go on."
    const BYTES_MIN: u64 = 64;
    let known: BTreeSet<BlockId> = said(wire, last).map(|(_, block)| block).collect();
    said(wire, request).any(|(_, block)| known.contains(&block) && wire.blocks.len_bytes(block) >= BYTES_MIN)
}

/// Whether a request may be a summary of `last` with a few messages behind it: it is shorter, and begins with a long text. Other
/// conversations of the same agent begin with a question.
fn is_condensed(wire: &Wire, request: &Request, last: &Request) -> bool {
    const MESSAGES_MAX: usize = 4;
    const SUMMARY_BYTES_MIN: u64 = 1_000;
    let first = said(wire, request).map(|(_, block)| block).find(|block| wire.blocks.role(*block) != Role::System);
    let is_long = first.is_some_and(|first| wire.blocks.len_bytes(first) >= SUMMARY_BYTES_MIN);
    is_shorter(request, last) && messages(request) <= MESSAGES_MAX && is_long
}

fn is_shorter(request: &Request, last: &Request) -> bool {
    messages(request) * SHORTER <= messages(last)
}
