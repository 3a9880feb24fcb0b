//! Prompts of a conversation as runs of blocks that no request of it enters or leaves half-way.
//!
//! A block is known by its *origin*: the request that sent it first, and its index there. So one block stands for all that a
//! request adds, until a later request parts from it inside. Where ids are all there is, each depends on all blocks before
//! it: behind a change all of them are new, though what is taken to be sent again ([`resent`]) is what it was. Its blocks keep
//! their origins.

use std::collections::BTreeSet;
use std::ops::Range;

use super::turns::resent;
use super::{Conversation, Trace, TraceRequest};

/// The request of the conversation that sent a block first, and the block's index in its prompt.
type Origin = (usize, usize);

/// A conversation, request by request.
#[derive(Clone, Debug)]
pub(crate) struct Runs<'a> {
    trace: &'a Trace,
    conversation: &'a Conversation,
    /// Where a request parted from the one before it, or came back to it.
    starts: BTreeSet<Origin>,
    path: Vec<Origin>,
    /// Requests so far.
    next: usize,
}

impl<'a> Runs<'a> {
    /// The conversation before its first request.
    pub fn new(trace: &'a Trace, conversation: &'a Conversation) -> Self {
        let (starts, path) = (BTreeSet::new(), Vec::new());
        let mut runs = Self { trace, conversation, starts, path, next: 0 };
        conversation.requests.iter().for_each(|request| runs.step(request));
        Self { path: Vec::new(), next: 0, ..runs }
    }

    /// Goes on to the next request.
    pub fn step(&mut self, request: &TraceRequest) {
        let lost = self.path.split_off(request.kept.min(self.path.len()));
        let again = if self.trace.texts.is_empty() { resent(lost.len(), request.added.len()) } else { 0 };
        // The changed block itself is new.
        let repeats = if again > 1 { 1..again } else { 0..0 };
        let seams = [0, repeats.start, repeats.end];
        self.starts.extend(seams.iter().filter_map(|at| lost.get(*at)));
        for offset in 0..request.added.len() {
            let known = lost.get(offset).filter(|_| repeats.contains(&offset));
            self.path.push(known.copied().unwrap_or((self.next, request.kept + offset)));
        }
        self.next += 1;
    }

    /// The blocks of the prompt in `range`, which begins where a run does, in runs, none of which goes over an index in `heads`.
    pub fn runs(&self, range: Range<usize>, heads: [usize; 2]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, origin) in self.path.iter().enumerate().take(range.end).skip(range.start) {
            let goes_on = at.checked_sub(1).is_some_and(|before| {
                let (request, index) = self.path[before];
                (request, index + 1) == *origin && !heads.contains(&at) && !self.starts.contains(origin)
            });
            match runs.last_mut().filter(|_| goes_on && self.trace.texts.is_empty()) {
                Some(run) => run.end = at + 1,
                None => runs.push(at..at + 1),
            }
        }
        runs
    }

    /// The id of the block at this index of the prompt.
    pub fn id(&self, at: usize) -> Option<u64> {
        let (request, index) = *self.path.get(at)?;
        let request = self.conversation.requests.get(request)?;
        request.added.get(index.checked_sub(request.kept)?).copied()
    }

    /// How many blocks the prompt has.
    pub fn len(&self) -> usize {
        self.path.len()
    }
}
