//! The path of one agent's prompts through the arena, as one reading of events has it.
//!
//! The forecast and the explanation may differ in what they believe that the client rewrote, so each has its own lanes over
//! the same blocks.

use forkcast_sim::wire::{BlockId, BlockKind, Blocks, Level, NodeId, Prefixes};

use super::history::HistoryBlock;

/// Namespaces of opaque blocks.
mod space {
    pub const SYSTEM: u64 = 1;
    pub const STATE: u64 = 2;
    pub const REWRITE: u64 = 3;
}

/// Blocks and prefixes of one session.
#[derive(Debug, Default)]
pub struct Arena {
    /// The blocks.
    pub blocks: Blocks,
    /// The prefixes.
    pub prefixes: Prefixes,
    rewrites: u128,
}

impl Arena {
    /// The block of the hidden prefix called `id`.
    pub fn system(&mut self, id: u64) -> BlockId {
        self.blocks.opaque(space::SYSTEM, u128::from(id), BlockKind::Opaque, Level::System)
    }

    /// The parameters of the message level in state `id`.
    pub fn state(&mut self, id: u64) -> BlockId {
        self.blocks.opaque(space::STATE, u128::from(id), BlockKind::Parameters, Level::Messages)
    }

    /// A new block: everything after it is another prefix.
    fn rewrite(&mut self) -> BlockId {
        self.rewrites += 1;
        self.blocks.opaque(space::REWRITE, self.rewrites, BlockKind::Parameters, Level::Messages)
    }
}

/// The part of a prompt before the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The empty prompt of the model.
    pub root: NodeId,
    /// The hidden prefix.
    pub system: BlockId,
    /// Parameters of the message level.
    pub state: BlockId,
}

/// Where the two parts of a prompt end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The hidden prefix.
    pub system_end: NodeId,
    /// The whole prompt.
    pub end: NodeId,
}

/// One agent's path.
#[derive(Clone, Debug)]
pub struct Lane {
    head: Option<Head>,
    system_end: NodeId,
    messages_start: NodeId,
    /// In step with the first entries of the history.
    nodes: Vec<NodeId>,
    /// Before which entry the client rewrote the conversation, with the block that makes it another; in order.
    rewrites: Vec<(usize, BlockId)>,
    /// How many entries were laid out again.
    rebuilt: usize,
}

impl Lane {
    /// An empty path below `root`.
    pub fn new(root: NodeId) -> Self {
        Self { head: None, system_end: root, messages_start: root, nodes: Vec::new(), rewrites: Vec::new(), rebuilt: 0 }
    }

    /// End of the hidden prefix.
    pub fn system_end(&self) -> NodeId {
        self.system_end
    }

    /// The prefix that ends with entry `at`.
    pub fn node(&self, at: usize) -> Option<NodeId> {
        self.nodes.get(at).copied()
    }

    /// Where hidden prefix and prompt end.
    pub fn ends(&self) -> Ends {
        Ends { system_end: self.system_end, end: self.end() }
    }

    /// The whole path.
    pub fn end(&self) -> NodeId {
        self.nodes.last().copied().unwrap_or(self.messages_start)
    }

    /// How many entries the path has.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many entries were laid out again so far: what changes of head and rewriting have cost.
    pub fn rebuilt(&self) -> usize {
        self.rebuilt
    }

    /// As many entries were given other sizes.
    pub fn count_again(&mut self, entries: usize) {
        self.rebuilt += entries;
    }

    /// Forgets the path and what it has cost; the head stays.
    pub fn forget(&mut self) {
        self.truncate(0);
        self.rebuilt = 0;
    }

    /// Sets the head. A change moves every entry to another prefix; returns whether there was one.
    pub fn set_head(&mut self, arena: &mut Arena, head: Head, entries: &[HistoryBlock]) -> bool {
        if self.head == Some(head) {
            return false;
        }
        self.rebuilt += self.nodes.len();
        let (system_end, _) = arena.prefixes.extend(head.root, head.system, BlockKind::Opaque);
        let (start, _) = arena.prefixes.extend(system_end, head.state, BlockKind::Parameters);
        (self.head, self.system_end, self.messages_start) = (Some(head), system_end, start);
        self.nodes.clear();
        self.follow(arena, entries);
        true
    }

    /// Extends the path by the entries that it does not have yet.
    pub fn follow(&mut self, arena: &mut Arena, entries: &[HistoryBlock]) {
        let mut node = self.end();
        for (at, entry) in entries.iter().enumerate().skip(self.nodes.len()) {
            if let Ok(rewrite) = self.rewrites.binary_search_by_key(&at, |(before, _)| *before) {
                node = arena.prefixes.extend(node, self.rewrites[rewrite].1, BlockKind::Parameters).0;
            }
            node = arena.prefixes.extend(node, entry.block, entry.kind).0;
            self.nodes.push(node);
        }
    }

    /// Forgets entries from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.nodes.truncate(len);
        self.rewrites.truncate(self.rewrites.partition_point(|(before, _)| *before < len));
    }

    /// The client rewrote the conversation from entry `from` on: the same blocks are another prefix now.
    pub fn rewrite(&mut self, arena: &mut Arena, from: usize, entries: &[HistoryBlock]) {
        self.rewrites.truncate(self.rewrites.partition_point(|(before, _)| *before < from));
        self.rewrites.push((from, arena.rewrite()));
        self.rebuilt += self.nodes.len().saturating_sub(from);
        self.nodes.truncate(from);
        self.follow(arena, entries);
    }
}
