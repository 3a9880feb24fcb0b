//! Conversations of a trace without ids of conversations: a request continues the longest earlier prompt that it repeats
//! completely.

use std::collections::BTreeMap;

use forkcast_sim::wire::{BlockKind, Blocks, Level, NodeId, Prefixes};

use crate::trace::TraceRequest;

/// All prompts so far.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    blocks: Blocks,
    prefixes: Prefixes,
    /// The blocks of the latest request of any conversation.
    pub ids: Vec<u64>,
    /// The newest prompt with each end: its conversation, and the end of the blocks that each request added.
    ends: BTreeMap<NodeId, (usize, Vec<usize>)>,
    conversations: usize,
}

impl Conversations {
    /// Adds the ids of the next request.
    pub fn step(&mut self, request: &TraceRequest) {
        self.ids.truncate(request.kept);
        self.ids.extend(&request.added);
    }

    /// The conversation of a request of the first `whole` ids, and the end of the blocks that each of its requests added.
    pub fn assign(&mut self, whole: usize) -> (usize, Vec<usize>) {
        let mut end = self.prefixes.root("", "");
        let mut longest = None;
        for id in self.ids.iter().take(whole) {
            let block = self.blocks.opaque(0, u128::from(*id), BlockKind::Opaque, Level::Messages);
            end = self.prefixes.extend(end, block, BlockKind::Opaque).0;
            longest = self.ends.contains_key(&end).then_some(end).or(longest);
        }
        let known = longest.and_then(|node| self.ends.remove(&node));
        let (conversation, mut added) = known.unwrap_or_else(|| {
            self.conversations += 1;
            (self.conversations, Vec::new())
        });
        if added.last().is_none_or(|last| *last < whole) {
            added.push(whole);
        }
        self.ends.insert(end, (conversation, added.clone()));
        (conversation, added)
    }
}
