//! The tree that `parentUuid` spans over a file.
//!
//! Lines of one answer follow each other, results of parallel tools hang at different ones of them, and whatever comes next hangs at
//! one of the results: these branches are no rewinds. The conversation went back only where a line hangs before
//! an answer or a prompt that was made in the meantime.

use forkcast_sim::time::Instant;
use forkcast_sim::wire::Index;

use crate::transcript::answer_id;

/// An id as a number: only whether two are equal is of interest.
pub(super) fn id(raw: &[u8]) -> u128 {
    answer_id(raw)
}

/// A line of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The thread that it belongs to.
    pub thread: usize,
    /// The newest item on the way from the root to here.
    pub item: Option<u32>,
    /// When it was written.
    pub at: Option<Instant>,
}

/// All lines of a file.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Index<u128, Node>,
}

impl Tree {
    /// The line with an id.
    pub fn get(&self, id: Option<u128>) -> Option<Node> {
        self.nodes.get(&id?).copied()
    }

    /// Adds a line.
    pub fn put(&mut self, id: Option<u128>, node: Node) {
        if let Some(id) = id {
            self.nodes.insert(id, node);
        }
    }
}
