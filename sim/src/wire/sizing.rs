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

/// Tokens of an image whose size is not known: those of the example on the provider's page, 1,000 by 1,000 pixels
/// (`providers.md` 7; vision page, 2026-08).
pub const UNKNOWN_IMAGE_TOKENS: u64 = 1_296;

/// Estimates the tokens of a block by its length alone: at least one token. The letters of an encoded image are no text.
pub fn estimated_tokens(blocks: &Blocks, block: BlockId) -> u64 {
    let images = if blocks.is_outline(block) { 0 } else { surplus_bytes(blocks.bytes(block)) };
    by_length(blocks.len_bytes(block) - images).max(1)
}

fn by_length(bytes: u64) -> u64 {
    (bytes * 10).div_ceil(BYTES_PER_TOKEN_TENTHS)
}

/// Between the letters of an encoded image and its media type, in canonical JSON.
const AFTER_DATA: &[u8] = b"\",\"media_type\":\"image/";

/// How many bytes of the encoded images of a block are more than the text of an image's tokens would have.
fn surplus_bytes(block: &[u8]) -> u64 {
    let most = UNKNOWN_IMAGE_TOKENS * BYTES_PER_TOKEN_TENTHS / 10;
    if (block.len() as u64) < most {
        return 0;
    }
    let ends = memchr::memmem::find_iter(block, AFTER_DATA);
    let data = ends.map(|end| end - memchr::memrchr(b'"', &block[..end]).map_or(end, |quote| quote + 1));
    data.map(|bytes| (bytes as u64).saturating_sub(most)).sum()
}

/// Sizes that follow from the blocks alone (`counted` or `declared`), stored per prefix.
#[derive(Clone, Debug, Default)]
pub struct NodeSizes {
    tokens: Vec<u64>,
}

impl NodeSizes {
    /// Declares that the last block of `node` has `tokens`. Shorter prefixes come first, and a known size stays.
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
    /// Those of its beginning, if other requests share it, then the others.
    parts: [&'a [u64]; 2],
}

impl<'a> PathSizes<'a> {
    /// Sizes of the prefixes of a path, shortest first: `cumulative[0]` is the size of its first block.
    pub fn new(prefixes: &'a Prefixes, nodes: &[NodeId], cumulative: &'a [u64]) -> Self {
        assert_eq!(nodes.len(), cumulative.len(), "one size for each prefix");
        Self::in_parts(prefixes, nodes.first(), [&[], cumulative])
    }

    /// The same of a path that begins with `first` and whose sizes are in two parts.
    pub(super) fn in_parts(prefixes: &'a Prefixes, first: Option<&NodeId>, parts: [&'a [u64]; 2]) -> Self {
        let first_depth = first.map_or(1, |node| prefixes.depth(*node));
        Self { prefixes, first_depth, parts }
    }

    /// Tokens of the longest prefix.
    pub fn total(&self) -> u64 {
        let [beginning, rest] = self.parts;
        rest.last().or(beginning.last()).copied().unwrap_or(0)
    }
}

impl Sizes for PathSizes<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        let Some(at) = self.prefixes.depth(node).checked_sub(self.first_depth) else { return 0 };
        let (at, [beginning, rest]) = (at as usize, self.parts);
        let found = match at.checked_sub(beginning.len()) {
            Some(at) => rest.get(at),
            None => beginning.get(at),
        };
        found.copied().unwrap_or_else(|| self.total())
    }
}
