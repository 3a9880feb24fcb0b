//! Tokens of the prefixes of a session, as far as recorded usage has shown them.

use forkcast_sim::wire::{NodeId, Sizes};

/// Cumulative tokens by prefix. Unlike counted sizes they are corrected when a later request shows the true one.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    by_node: Vec<u64>,
}

impl Tokens {
    /// Says that the prefix `node` has `tokens`.
    pub fn set(&mut self, node: NodeId, tokens: u64) {
        let at = node.index();
        if self.by_node.len() <= at {
            self.by_node.resize(at + 1, 0);
        }
        self.by_node[at] = tokens;
    }
}

impl Sizes for Tokens {
    fn tokens_at(&self, node: NodeId) -> u64 {
        self.by_node.get(node.index()).copied().unwrap_or(0)
    }
}
