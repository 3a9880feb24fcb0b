//! How many tokens a prefix has.
//!
//! Three sizings: counted (by length for now), declared (by a scenario), and recorded ([`super::Pins`]).

use super::block::{BlockId, Blocks};
use super::prefix::{NodeId, Prefixes};

/// Tokens of prefixes. A longer prefix never has fewer.
pub trait Sizes {
    /// Tokens of the prefix `node`.
    fn tokens_at(&self, node: NodeId) -> u64;
}

/// Bytes of JSON per token, in tenths: the median growth of captured Claude Code requests in bytes divided by the
/// growth in tokens that the provider counted (fable-5 3.09, sonnet-5 3.16; recordings of 2026-07 and 2026-08).
const BYTES_PER_TOKEN_TENTHS: u64 = 31;

/// Estimates the tokens of a block by its length alone: at least one token.
pub fn estimated_tokens(blocks: &Blocks, block: BlockId) -> u64 {
    (blocks.len_bytes(block) * 10).div_ceil(BYTES_PER_TOKEN_TENTHS).max(1)
}

/// Sizes that follow from the blocks alone (`counted` or `declared`), stored per prefix.
#[derive(Clone, Debug, Default)]
pub struct NodeSizes {
    tokens: Vec<u64>,
}

impl NodeSizes {
    /// Declares that the last block of `node` has `tokens`. Shorter prefixes must be declared first; a prefix that has
    /// a size keeps it.
    pub fn declare(&mut self, prefixes: &Prefixes, node: NodeId, tokens: u64) {
        let at = node.0 as usize;
        if self.tokens.len() <= at {
            self.tokens.resize(at + 1, u64::MAX);
        }
        if self.tokens[at] == u64::MAX {
            let above = prefixes.parent(node).map_or(0, |parent| self.tokens_at(parent));
            self.tokens[at] = above.saturating_add(tokens).min(u64::MAX - 1);
        }
    }
}

impl Sizes for NodeSizes {
    fn tokens_at(&self, node: NodeId) -> u64 {
        match self.tokens.get(node.0 as usize) {
            Some(&tokens) if tokens != u64::MAX => tokens,
            _ => 0,
        }
    }
}

/// Sizes along the path of one request, by depth.
#[derive(Clone, Copy, Debug)]
pub struct PathSizes<'a> {
    prefixes: &'a Prefixes,
    first_depth: u32,
    cumulative: &'a [u64],
}

impl<'a> PathSizes<'a> {
    /// Sizes of the prefixes of a path, shortest first: `cumulative[0]` is the size of its first block.
    pub fn new(prefixes: &'a Prefixes, nodes: &[NodeId], cumulative: &'a [u64]) -> Self {
        assert_eq!(nodes.len(), cumulative.len(), "one size for each prefix");
        let first_depth = nodes.first().map_or(1, |node| prefixes.depth(*node));
        Self { prefixes, first_depth, cumulative }
    }

    /// The sizes, shortest prefix first.
    pub const fn cumulative(&self) -> &'a [u64] {
        self.cumulative
    }
}

impl Sizes for PathSizes<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        let depth = self.prefixes.depth(node);
        let Some(at) = depth.checked_sub(self.first_depth) else { return 0 };
        let last = self.cumulative.last().copied().unwrap_or(0);
        self.cumulative.get(at as usize).copied().unwrap_or(last)
    }
}
