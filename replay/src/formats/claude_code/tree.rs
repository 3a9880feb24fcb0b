//! The tree that `parentUuid` forms over a file.
//!
//! Lines of one answer follow each other, results of parallel tools have different lines of it as parents, and the next
//! line has one of the results as its parent: these branches are not rewinds. The conversation went back only if the
//! parent of a line comes before an answer or a prompt that was made in the meantime.

use forkcast_sim::time::Instant;
use forkcast_sim::wire::Index;

/// A line of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Its thread.
    pub thread: usize,
    /// The newest item on the path from the root to here.
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
