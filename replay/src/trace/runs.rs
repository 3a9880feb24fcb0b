//! Prompts of a conversation as runs of blocks that every request of it has completely or not at all.
//!
//! A block is identified by its *origin*: the request that sent it first, and its index there. So one run represents all blocks
//! that a request adds, until a later request diverges within it. If only ids are known, each depends on all blocks before it:
//! after a change all ids are new, although content that counts as sent again ([`resent`]) is unchanged. Its blocks keep their
//! origins.

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
    /// Where a request diverged from the previous one, or rejoined it.
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

    /// Continues with the next request.
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

    /// The runs of the prompt's blocks in `range`, which begins with a run. No run crosses an index in `heads`.
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

    /// The number of blocks of the prompt.
    pub fn len(&self) -> usize {
        self.path.len()
    }
}
