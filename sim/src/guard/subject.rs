//! A request as the next of its chain needs it.

use super::reads::{Step, StepPrompt};
use super::sent::Facts;
use crate::cache::{Refusal, Rules, minimum_tokens, refusal};
use crate::wire::{Marker, Prefixes, Request, Ttl, Wire};

/// A request that was taken.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// Position among all that were taken.
    pub number: usize,
    /// The request.
    pub request: Request,
    /// Tokens of each of its prefixes.
    pub cumulative: Vec<u64>,
    /// Shortest prefix that is cached, in tokens.
    pub minimum_tokens: u64,
    /// Why the provider refuses it, if it does.
    pub refusal: Option<Refusal>,
    /// Its sizes rest on a recorded usage.
    pub is_measured: bool,
}

impl Subject {
    /// A request with its sizes.
    pub fn new(number: usize, request: Request, cumulative: Vec<u64>, rules: &Rules) -> Self {
        let minimum_tokens = minimum_tokens(request.resolved.map(|resolved| resolved.id));
        let refusal = refusal::check(&request, rules).err();
        Self { number, request, cumulative, minimum_tokens, refusal, is_measured: false }
    }

    /// Tokens of the whole prompt: what the provider reported in sum, else what the blocks have.
    pub fn total_tokens(&self, facts: &Facts<'_>) -> u64 {
        let sized = self.cumulative.last().copied().unwrap_or(0);
        facts.usage.map_or(sized, |usage| usage.total_input_tokens())
    }

    /// Tokens of the block at `at`.
    pub fn tokens(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).map_or(0, |before| self.cumulative[before]);
        self.cumulative[at].saturating_sub(before)
    }

    /// The block at `at` with its size.
    pub fn step(&self, prefixes: &Prefixes, at: usize) -> Option<Step> {
        let block = prefixes.block(*self.request.nodes.get(at)?)?;
        Some(Step { block, tokens: self.tokens(at) })
    }

    /// All of its blocks.
    pub fn steps(&self, prefixes: &Prefixes) -> Vec<Step> {
        (0..self.request.nodes.len()).filter_map(|at| self.step(prefixes, at)).collect()
    }

    /// Where its breakpoints stand: index of the block, and lifetime.
    pub fn marked(&self) -> Vec<(usize, Ttl)> {
        self.request.markers.iter().filter_map(|marker| Some((self.request.index_of(marker)?, marker.ttl))).collect()
    }

    /// The breakpoints that count: those that are long enough.
    pub fn effective(&self) -> Vec<Marker> {
        let marked = self.request.markers.iter().zip(self.marked());
        let long_enough = marked.filter(|(_, (at, _))| self.cumulative[*at] >= self.minimum_tokens);
        long_enough.map(|(marker, _)| *marker).collect()
    }

    /// How many leading blocks it left in the cache: what its last breakpoint covers that is long enough, nothing where
    /// the request is refused.
    pub fn covered(&self) -> usize {
        let counts = self.marked().into_iter().filter(|(at, _)| self.cumulative[*at] >= self.minimum_tokens);
        let last = counts.map(|(at, _)| at + 1).max();
        last.filter(|_| self.refusal.is_none()).unwrap_or(0)
    }

    /// The request as a prompt to be looked up.
    pub fn prompt(&self, wire: &Wire) -> StepPrompt {
        StepPrompt::new(wire, self.request.root, &self.steps(&wire.prefixes), &self.marked(), self.minimum_tokens)
    }
}
