//! What a request loses that is not the lock's: the rule of the judge (`design.md` 6) where only digests are known.
//!
//! The lock's request and those before it in its chain are taken to be in the cache. Unchanged and moved blocks that it cached and that are not read are lost.
//! Of an edited block the digests do not show how much is equal, so all that could be is counted: an upper bound.

use std::collections::BTreeMap;

use super::pairs::{Divergence, Sides};
use super::{Locked, NodeAt, Placed};
use crate::cache;
use crate::diagnosis::Cause;
use crate::guard::finding::Loss;
use crate::guard::reads::read_blocks;
use crate::pricing::Category;
use crate::wire::{BlockKind, Ttl};

/// Prefixes of a lock that were written, each with its lifetime.
pub(super) type Entries = BTreeMap<NodeAt, Ttl>;

/// A prompt of a lock with the breakpoints that count.
pub(super) struct Cached<'a> {
    blocks: &'a [Placed<'a>],
    markers: Vec<(usize, Ttl)>,
}

impl<'a> Cached<'a> {
    /// `minimum_tokens` is the shortest prefix that is cached.
    pub fn new(request: &Locked, blocks: &'a [Placed<'a>], minimum_tokens: u64) -> Self {
        let mut tokens = 0;
        let mut markers = Vec::new();
        for (at, placed) in blocks.iter().enumerate() {
            tokens += placed.tokens;
            let path = placed.place.to_string();
            let marked = request.breakpoints.iter().find(|breakpoint| breakpoint.path == path);
            markers.extend(marked.filter(|_| tokens >= minimum_tokens).map(|breakpoint| (at, breakpoint.ttl)));
        }
        Self { blocks, markers }
    }

    /// How many leading blocks are cached.
    pub fn covered(&self) -> usize {
        self.markers.last().map_or(0, |(at, _)| at + 1)
    }

    /// Adds the entries that the request writes.
    pub fn write(&self, entries: &mut Entries) {
        entries.extend(self.markers.iter().map(|(at, ttl)| (self.blocks[*at].at, *ttl)));
    }

    /// How many leading blocks are read of `entries` of the lock, if the first `common` are those of its prompt `older`.
    fn read(&self, older: &Self, common: usize, entries: &Entries, rules: &cache::Rules) -> usize {
        let kinds: Vec<BlockKind> = self.blocks.iter().map(|placed| placed.block.kind).collect();
        let written = |at: usize| entries.get(&older.blocks[at].at).copied().filter(|_| at < common);
        read_blocks(&self.markers, &kinds, |at| older.blocks.get(at).and_then(|_| written(at)), rules)
    }

    /// What the block at `at` is billed as if it is not read.
    fn billed_as(&self, at: usize) -> Category {
        let covers = |ttl: Ttl| self.markers.iter().any(|(end, known)| *end >= at && *known == ttl);
        match (covers(Ttl::OneHour), covers(Ttl::FiveMinutes)) {
            (true, _) => Category::Write1h,
            (false, true) => Category::Write5m,
            (false, false) => Category::Input,
        }
    }
}

/// A request beside that of the lock.
pub(super) struct Beside<'a> {
    pub sides: &'a Sides<'a>,
    pub after: &'a Locked,
    pub old: &'a Cached<'a>,
    pub new: &'a Cached<'a>,
    pub entries: &'a Entries,
    pub rules: &'a cache::Rules,
}

impl Beside<'_> {
    /// What is lost if the first `common` blocks are equal and `divergences` are all that differs.
    pub fn loss(&self, common: usize, divergences: &[Divergence]) -> Loss {
        let edited = edited(divergences);
        let moved = self.moved();
        let covered = self.old.covered();
        let mut tokens: BTreeMap<Category, u64> = BTreeMap::new();
        let mut is_upper_bound = false;
        for at in self.new.read(self.old, common, self.entries, self.rules)..self.sides.new.len() {
            let whole = self.sides.alignment.partner[at].or_else(|| moved.get(&at).copied());
            let old = whole.or_else(|| edited.get(&at).copied()).filter(|old| *old < covered);
            let Some(old) = old else { continue };
            let sent_before = if whole.is_some() { self.sides.new[at].tokens } else { self.at_most(old, at) };
            is_upper_bound |= whole.is_none();
            *tokens.entry(self.new.billed_as(at)).or_default() += sent_before;
        }
        let cost = self.after.rates.map(|rates| {
            tokens.iter().map(|(billed_as, tokens)| rates.difference(*billed_as, Category::Read, *tokens)).sum()
        });
        let most = tokens.iter().max_by_key(|(_, tokens)| **tokens);
        let billed_as = most.map_or(Category::Input, |(billed_as, _)| *billed_as);
        Loss { tokens: tokens.values().sum(), is_upper_bound, billed_as, cost }
    }

    /// Tokens of an edited block that may have been sent before.
    fn at_most(&self, old: usize, new: usize) -> u64 {
        let [old, new] = [&self.sides.old[old], &self.sides.new[new]];
        let share = u128::from(new.tokens) * u128::from(old.block.bytes.min(new.block.bytes));
        u64::try_from(share / u128::from(new.block.bytes.max(1))).unwrap_or(new.tokens)
    }

    /// Blocks that stand elsewhere in the lock: index in the newer prompt, index in the older.
    fn moved(&self) -> BTreeMap<usize, usize> {
        let gaps = &self.sides.alignment.gaps;
        let mut gone: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for at in gaps.iter().rev().flat_map(|gap| gap.old.clone().rev()) {
            gone.entry(self.sides.old[at].block.digest).or_default().push(at);
        }
        let came = gaps.iter().flat_map(|gap| gap.new.clone());
        came.filter_map(|at| Some((at, gone.get_mut(&self.sides.new[at].block.digest)?.pop()?))).collect()
    }
}

/// Blocks that were edited: index in the newer prompt, index in the older. Images and parameters have no parts, and in a
/// history that was replaced as a whole blocks merely stand in the place of others.
fn edited(divergences: &[Divergence]) -> BTreeMap<usize, usize> {
    let has_parts = |found: &&Divergence| {
        !matches!(
            found.cause,
            Cause::LevelParameter
                | Cause::ImageChanged
                | Cause::ToolsReordered
                | Cause::Compacted
                | Cause::Rewound
                | Cause::HistoryTruncated
        )
    };
    let pairs = divergences.iter().filter(has_parts).map(|found| found.pair);
    pairs.filter_map(|pair| Some((pair.new?, pair.old?))).collect()
}
