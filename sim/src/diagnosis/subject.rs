//! A request with the data that explains the next one of its chain.

use crate::cache::{Prompt, PromptCache, Refusal, Rules, Step, minimum_tokens, refusal};
use crate::pricing::Category;
use crate::time::Instant;
use crate::wire::{Marker, PathSizes, Prefixes, Request, Sizes, Ttl, Usage, Wire};

/// A request with its sizes.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Position among all requests: the line of the ledger.
    pub number: usize,
    /// The request.
    pub request: Request,
    /// Tokens of each of its prefixes.
    pub cumulative: Vec<u64>,
    /// Shortest prefix that is cached, in tokens.
    pub minimum_tokens: u64,
    /// Why the provider refuses it, if it is refused.
    pub refusal: Option<Refusal>,
}

impl Subject {
    /// A request with its sizes.
    pub fn new(number: usize, request: Request, cumulative: Vec<u64>, rules: &Rules) -> Self {
        let minimum_tokens = minimum_tokens(request.resolved.map(|resolved| resolved.id));
        let refusal = refusal::check(&request, rules).err();
        Self { number, request, cumulative, minimum_tokens, refusal }
    }

    /// Tokens of all blocks.
    pub fn total_tokens(&self) -> u64 {
        self.cumulative.last().copied().unwrap_or(0)
    }

    /// Tokens of the block at `at`.
    pub fn tokens(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).map_or(0, |before| self.cumulative[before]);
        self.cumulative[at].saturating_sub(before)
    }

    /// The provider refuses it, and nothing of it is read, written or billed; a recorded `usage` shows that it was accepted.
    pub fn is_refused(&self, usage: Option<&Usage>) -> bool {
        self.refusal.is_some() && usage.is_none()
    }

    /// How many leading blocks end within the first `tokens`.
    pub fn blocks_within(&self, tokens: u64) -> usize {
        self.cumulative.partition_point(|end| *end <= tokens)
    }

    /// The block at `at` with its size.
    pub(super) fn step(&self, prefixes: &Prefixes, at: usize) -> Option<Step> {
        let block = prefixes.block(*self.request.nodes.get(at)?)?;
        Some(Step { block, tokens: self.tokens(at) })
    }

    /// Positions of its breakpoints: block index and lifetime.
    pub fn marked(&self) -> Vec<(usize, Ttl)> {
        self.request.markers.iter().filter_map(|marker| Some((self.request.index_of(marker)?, marker.ttl))).collect()
    }

    /// Positions of those that are long enough to count.
    fn counting(&self) -> impl Iterator<Item = (usize, Ttl)> {
        self.marked().into_iter().filter(|(at, _)| self.cumulative[*at] >= self.minimum_tokens)
    }

    /// The breakpoints that count: those that are long enough.
    pub fn effective(&self) -> Vec<Marker> {
        let marked = self.request.markers.iter().zip(self.marked());
        let long_enough = marked.filter(|(_, (at, _))| self.cumulative[*at] >= self.minimum_tokens);
        long_enough.map(|(marker, _)| *marker).collect()
    }

    /// How many leading blocks its breakpoints cover, of any length.
    pub fn covered_at_any_length(&self) -> usize {
        self.marked().into_iter().fold(0, |covered, (at, _)| covered.max(at + 1))
    }

    /// How many leading blocks it left in the cache: those covered by its last breakpoint that is long enough; none if
    /// the request is refused.
    pub fn covered(&self) -> usize {
        let last = self.counting().map(|(at, _)| at + 1).max();
        last.filter(|_| self.refusal.is_none()).unwrap_or(0)
    }

    /// Tokens of its prefixes, for look-ups.
    pub fn sizes<'a>(&'a self, prefixes: &'a Prefixes) -> PathSizes<'a> {
        PathSizes::new(prefixes, &self.request.nodes, &self.cumulative)
    }

    /// The request as a prompt for look-ups.
    pub fn prompt<'a>(&'a self, prefixes: &'a Prefixes, sizes: &'a dyn Sizes) -> Prompt<'a> {
        let (markers, total_tokens) = (self.request.markers.as_slice(), self.total_tokens());
        Prompt { prefixes, markers, sizes, total_tokens, minimum_tokens: self.minimum_tokens }
    }

    /// How many of its leading blocks `cache` would read at `at`.
    pub fn read(&self, wire: &Wire, cache: &dyn PromptCache, at: Instant) -> usize {
        let sizes = self.sizes(&wire.prefixes);
        cache.peek(&self.prompt(&wire.prefixes, &sizes), at).blocks_read(&wire.prefixes)
    }

    /// How its blocks are billed if they are not read.
    pub fn billing(&self) -> Billing {
        let mut billing = Billing::default();
        for (at, ttl) in self.counting().filter(|_| self.refusal.is_none()) {
            billing.written = billing.written.max(at + 1);
            if ttl == Ttl::OneHour {
                billing.one_hour = billing.one_hour.max(at + 1);
            }
        }
        billing
    }
}

/// How a prompt is billed if nothing is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Billing {
    /// How many leading blocks one-hour breakpoints cover.
    one_hour: usize,
    /// How many leading blocks any breakpoint covers.
    written: usize,
}

impl Billing {
    /// How the block at `at` is billed.
    pub const fn category(&self, at: usize) -> Category {
        match at {
            _ if at < self.one_hour => Category::Write1h,
            _ if at < self.written => Category::Write5m,
            _ => Category::Input,
        }
    }
}
