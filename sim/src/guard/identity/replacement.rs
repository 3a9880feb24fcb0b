//! Whose history a request replaced, where no id says so and nothing of what was said goes on in it.
//!
//! Such a request is no beginning if a model has spoken in it, or if it holds what clients and providers put in place of a
//! history. Whose it is can be told by tools and system prompt alone. They may have changed together with the history, since many clients
//! load their tools and render their prompt anew when they compact; the less alike they are, the better must be what speaks
//! for a replaced history. If two chains could be meant, none is: a break that is missed is told as a note, and a false one
//! would fail a build.

use super::lanes::messages;
use super::resemblance::{Likeness, is_same_head, likeness, said};
use crate::diagnosis::{could_be_summary, is_summary};
use crate::wire::{BlockId, ChainId, Request, Role, Wire};

/// What shows that something was said before a request's first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// A user's text begins as clients begin a summary, or a block is a provider's.
    Summary,
    /// A model has spoken. Examples that a new agent is given, and a recording that began late, look like that too.
    Words,
    /// A user's text begins as many a summary does; so may a question.
    Opening,
    /// Such a text, and a model has spoken.
    OpeningAndWords,
}

impl Trace {
    /// The surest trace in `request`.
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

/// Chains whose tools and system prompts are compared byte by byte, the latest first. One that so many others came after
/// is taken for ended, unless its head is the very same.
const COMPARED_MAX: usize = 32;

/// How many times as many messages as a history has that stands for it.
const SHORTER: usize = 2;

/// The chains among `known`, which are given the latest first, that `request` is most alike, and how alike that is.
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

/// The one chain among `known` whose history `request` replaced, with this trace of it and so alike.
pub(super) fn only(
    wire: &Wire,
    request: &Request,
    trace: Trace,
    likeness: Likeness,
    known: &[(ChainId, &Request)],
) -> Option<ChainId> {
    // Who has the very same head is believed to have spoken before the recording began.
    let is_believed = matches!(trace, Trace::Words | Trace::OpeningAndWords) && likeness == Likeness::Same;
    let mut spoken = known.iter().filter(|(_, last)| is_believed || Trace::of(wire, last).is_some());
    let (chain, last) = spoken.next().filter(|_| spoken.next().is_none())?;
    let is_meant = match (trace, likeness) {
        (Trace::Summary, _) | (Trace::Words, Likeness::Same) => true,
        (Trace::OpeningAndWords, Likeness::Same | Likeness::Alike) => true,
        // Nobody says how a summary in words of its own begins; but it is shorter than what it stands for.
        (Trace::Words, Likeness::Alike) | (Trace::Opening, Likeness::Same | Likeness::Alike) => {
            is_shorter(request, last)
        }
        (_, Likeness::Partial) => false,
    };
    is_meant.then_some(*chain)
}

fn is_shorter(request: &Request, last: &Request) -> bool {
    messages(request) * SHORTER <= messages(last)
}
