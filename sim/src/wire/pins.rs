//! Recorded sizes: prefixes with token counts that an earlier request's usage has shown.
//!
//! A request's own read and write counts are never used for that request: only its total is. Without a total, blocks
//! keep the tokens that a measured request showed, and the rest is estimated by length.

use memchr::memmem;

use super::Wire;
use super::adopt::Moved;
use super::block::{BlockId, BlockKind, Blocks};
use super::index::Index;
use super::marker::{Marker, Ttl};
use super::prefix::{NodeId, Prefixes};
use super::request::Request;
use super::sizing::estimated_tokens;
use super::usage::Usage;

/// Prefix sizes learnt from recorded usage.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    sizes: Index<NodeId, u64>,
    /// Tokens after a breakpoint on the last block, by model and by whether that is a result.
    tails: Index<(NodeId, bool), u64>,
    /// Tokens of blocks in the last measured request, by the hashes of their contents, which outlive a wire, and by how
    /// many blocks of the same content there were up to it in the request.
    shown: Index<(u64, u32), u64>,
}

impl Pins {
    /// The same over a wire to which these prefixes moved; sizes of other prefixes are dropped.
    pub fn moved(self, moved: &Moved) -> Self {
        let mut sizes = Index::default();
        let mut tails = Index::default();
        for (old, new) in moved.iter() {
            if let Some(size) = self.get(old) {
                sizes.insert(new, size);
            }
            for result in [false, true] {
                if let Some(tail) = self.tails.get(&(old, result)) {
                    tails.insert((new, result), *tail);
                }
            }
        }
        Self { sizes, tails, ..self }
    }

    /// The size of `node` if an earlier request has shown it.
    pub fn get(&self, node: NodeId) -> Option<u64> {
        self.sizes.get(&node).copied()
    }

    /// Tokens of each prefix of a request: as the input has `declared` them, unless they belong to another prompt or
    /// another bill; else [`Self::cumulative`] of its recorded total; else the sizes that measured requests showed for
    /// its blocks.
    pub fn sizes(
        &self,
        request: &Request,
        wire: &Wire,
        declared: Option<&[u64]>,
        total_tokens: Option<u64>,
    ) -> Vec<u64> {
        let fits = |sizes: &&[u64]| {
            sizes.len() == request.nodes.len() && total_tokens.is_none_or(|total| sizes.last() == Some(&total))
        };
        match (declared.filter(fits), total_tokens) {
            (Some(declared), _) => declared.to_vec(),
            (None, Some(total)) => self.cumulative(request, &wire.prefixes, &wire.blocks, total),
            (None, None) => self.unmeasured(request, wire),
        }
    }

    fn unmeasured(&self, request: &Request, wire: &Wire) -> Vec<u64> {
        let estimated = |block| estimated_tokens(&wire.blocks, block);
        let mut sum: u64 = 0;
        let mut add = |tokens| {
            sum = sum.saturating_add(tokens);
            sum
        };
        if self.shown.is_empty() {
            return own_blocks(request, wire).map(|block| add(estimated(block))).collect();
        }
        let shown = |key| self.shown.get(&key).copied();
        blocks(request, wire).map(|(block, key)| add(shown(key).unwrap_or_else(|| estimated(block)))).collect()
    }

    /// Records the block sizes of a measured request.
    pub fn show(&mut self, request: &Request, wire: &Wire, cumulative: &[u64]) {
        debug_assert_eq!(request.nodes.len(), cumulative.len(), "one size for each prefix");
        let mut before = 0;
        for ((_, key), end) in blocks(request, wire).zip(cumulative) {
            self.shown.insert(key, end.saturating_sub(before));
            before = *end;
        }
    }

    /// Tokens of each prefix of `request`, with a whole prompt of `total_tokens`: exact for pinned prefixes, in between
    /// in proportion to the estimated sizes of the blocks.
    pub fn cumulative(&self, request: &Request, prefixes: &Prefixes, blocks: &Blocks, total_tokens: u64) -> Vec<u64> {
        let estimates: Vec<u64> = request
            .nodes
            .iter()
            .map(|node| prefixes.block(*node).map_or(0, |block| estimated_tokens(blocks, block)))
            .collect();
        let mut cumulative = vec![0; estimates.len()];
        let mut from = 0;
        let mut base = 0;
        for (at, node) in request.nodes.iter().enumerate() {
            let last = at + 1 == estimates.len();
            let pin = self.get(*node).filter(|size| (base..=total_tokens).contains(size));
            let size = match pin {
                Some(size) => size,
                // A tail sent by an earlier request may be longer than this whole request.
                None if last => total_tokens.saturating_sub(self.tail(request, prefixes)).max(base),
                None => continue,
            };
            share(&estimates[from..=at], base, size, &mut cumulative[from..=at]);
            (from, base) = (at + 1, size);
        }
        cumulative
    }

    /// Tokens after a breakpoint on the very last block: a few of the closing frame, learnt from earlier requests.
    fn tail(&self, request: &Request, prefixes: &Prefixes) -> u64 {
        let result = ends_with_result(request, prefixes);
        self.tails.get(&(request.root, result)).copied().unwrap_or_else(|| frame_tokens(request, result))
    }

    /// Learns from a request's usage, after its own prediction is made. `effective` are its breakpoints that count,
    /// `hit` the prefix that the cache is believed to have served.
    pub fn learn(
        &mut self,
        request: &Request,
        prefixes: &Prefixes,
        effective: &[Marker],
        hit: Option<NodeId>,
        usage: &Usage,
    ) {
        let written = usage.cache_creation_input_tokens();
        let read = usage.cache_read_input_tokens;
        if read + written == 0 {
            return;
        }
        if let Some(last) = effective.last() {
            self.pin(last.node, read + written);
            if last.node == request.end() {
                self.tails.insert((request.root, ends_with_result(request, prefixes)), usage.input_tokens);
            }
        }
        if usage.ephemeral_1h_input_tokens > 0
            && usage.ephemeral_5m_input_tokens > 0
            && let Some(long) = effective.iter().rev().find(|marker| marker.ttl == Ttl::OneHour)
        {
            self.pin(long.node, read + usage.ephemeral_1h_input_tokens);
        }
        if let Some(hit) = hit.filter(|_| read > 0) {
            self.pin(hit, read);
        }
    }

    fn pin(&mut self, node: NodeId, tokens: u64) {
        // The first value stays: a later, different one comes from a hit on another prefix.
        self.sizes.get_or_insert_with(node, || tokens);
    }
}

fn ends_with_result(request: &Request, prefixes: &Prefixes) -> bool {
    prefixes.kind(request.end()) == BlockKind::ToolResult
}

/// Tokens of the closing frame of Claude models, until a request shows them (`observed.md` 8, recordings of 2025-05 to 2026-08).
fn frame_tokens(request: &Request, result: bool) -> u64 {
    let claude = request.resolved.as_ref().and_then(|resolved| resolved.id.row().claude);
    let Some((_, version)) = claude else { return 0 };
    let thinking = request.envelope_value("thinking");
    let thinks = thinking.is_some_and(|value| memmem::find(value, b"\"enabled\"").is_some());
    match (version, result) {
        (version, _) if version >= (4, 8) => 2,
        (version, true) if version >= (4, 6) => 1,
        (_, true) if thinks => 8,
        (_, true) => 6,
        (_, false) if thinks => 10,
        (_, false) => 3,
    }
}

fn own_blocks<'a>(request: &'a Request, wire: &'a Wire) -> impl Iterator<Item = BlockId> + 'a {
    request.nodes.iter().filter_map(|node| wire.prefixes.block(*node))
}

/// The blocks of a request, each with the hash of its content and the number of equal blocks up to it.
fn blocks<'a>(request: &'a Request, wire: &'a Wire) -> impl Iterator<Item = (BlockId, (u64, u32))> + 'a {
    let mut counts: Index<u64, u32> = Index::default();
    own_blocks(request, wire).map(move |block| {
        let hash = wire.blocks.content_hash(block);
        let count = counts.get_or_insert_with(hash, || 0);
        *count += 1;
        (block, (hash, *count))
    })
}

/// Shares `size - base` among blocks in proportion to their estimates; the resulting sizes grow and end at `size`.
fn share(estimates: &[u64], base: u64, size: u64, cumulative: &mut [u64]) {
    let whole: u128 = estimates.iter().map(|tokens| u128::from(*tokens)).sum();
    let span = u128::from(size - base);
    let mut passed: u128 = 0;
    for (tokens, slot) in estimates.iter().zip(cumulative) {
        passed += u128::from(*tokens);
        let part = (span * passed).checked_div(whole).unwrap_or(span);
        // A part of `size - base`, so it fits.
        *slot = base + part as u64;
    }
}
