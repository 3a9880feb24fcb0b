//! Requests that keep a prefix alive between real requests.
//!
//! A ping re-sends the last request up to its last breakpoint: it reads the prefix, and its answer is one token (`economics.md`
//! 3.6: a ping costs rX + o). It is billed at the prices of the request before it. The client is assumed to know the last request
//! of a sub-agent: none is sent after it. It cannot know that of the main agent.

use std::collections::BTreeMap;

use forkcast_sim::cache::{Markers, Prompt};
use forkcast_sim::pricing::{Money, Rates};
use forkcast_sim::service::Delivery;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, Prefixes, Sizes, Usage};

use super::spec::KeepAlive;
use crate::rebuild::{Dispatch, Tokens};

/// Tokens that a ping is answered with.
const OUTPUT_TOKENS: u64 = 1;

/// Number of the main agent of a session.
const MAIN_AGENT: usize = 0;

/// The pings of a session.
#[derive(Debug)]
pub(super) struct Pings {
    keepalive: KeepAlive,
    due: BTreeMap<(Instant, usize), Waiting>,
    /// When each agent's next ping is due.
    agents: BTreeMap<usize, Instant>,
    /// Sizes of the prefixes that were ever marked: no other can be read.
    sizes: Tokens,
}

/// An agent between two requests.
#[derive(Debug)]
struct Waiting {
    left: u32,
    markers: Markers,
    minimum_tokens: u64,
    rates: Option<Rates>,
    /// The request that the pings are billed to; `None` after a hidden one.
    row: Option<usize>,
    spent: Spent,
}

/// What pings have cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub usage: Usage,
    pub cost: Money,
}

impl Pings {
    pub fn new(keepalive: KeepAlive) -> Self {
        Self { keepalive, due: BTreeMap::new(), agents: BTreeMap::new(), sizes: Tokens::default() }
    }

    /// When the next one goes out.
    pub fn next(&self) -> Option<Instant> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Sends the next one.
    pub fn send(&mut self, prefixes: &Prefixes, delivery: &mut Delivery) {
        let Some(((at, agent), mut waiting)) = self.due.pop_first() else { return };
        let end = waiting.markers.last().map_or(0, |last| self.sizes.tokens_at(last.node));
        let prompt = Prompt {
            prefixes,
            markers: &waiting.markers,
            sizes: &self.sizes,
            total_tokens: end,
            minimum_tokens: waiting.minimum_tokens,
        };
        let outcome = delivery.serve_at_once(&prompt, at);
        let usage = Usage { output_tokens: OUTPUT_TOKENS, ..outcome.usage() };
        waiting.spent.usage += usage;
        waiting.spent.cost += waiting.rates.map_or(Money::ZERO, |rates| rates.bill(&usage, &[]).total);
        waiting.left -= 1;
        self.agents.remove(&agent);
        self.wait(at + self.keepalive.every, agent, waiting);
    }

    /// A real request came: nothing more is sent for what went before it. Gives the spent amount, and for which request.
    pub fn stop(&mut self, agent: usize) -> Option<(usize, Spent)> {
        let at = self.agents.remove(&agent)?;
        let waiting = self.due.remove(&(at, agent))?;
        Some((waiting.row?, waiting.spent))
    }

    /// A request went out with these breakpoints: pings follow it.
    pub fn follow(&mut self, sent: &Dispatch<'_>, markers: &[Marker], rates: Option<&Rates>, row: Option<usize>) {
        let markers = sent.prompt(markers).effective();
        if markers.is_empty() || sent.is_last && sent.agent != MAIN_AGENT {
            return;
        }
        for marker in &markers {
            self.sizes.set(marker.node, sent.sizes.tokens_at(marker.node));
        }
        let waiting = Waiting {
            left: self.keepalive.pings_max,
            markers,
            minimum_tokens: sent.minimum_tokens,
            rates: rates.copied(),
            row,
            spent: Spent::default(),
        };
        self.wait(sent.times.at + self.keepalive.every, sent.agent, waiting);
    }

    fn wait(&mut self, at: Instant, agent: usize, waiting: Waiting) {
        // Those who may send no more wait too, at the end of time, for the spent amount to be billed.
        let at = if waiting.left == 0 { Instant(u64::MAX) } else { at };
        self.agents.insert(agent, at);
        self.due.insert((at, agent), waiting);
    }

    /// Whether a ping is still to be sent after the last request of the session.
    pub fn is_waiting(&self) -> bool {
        self.due.iter().any(|((at, agent), _)| *agent == MAIN_AGENT && *at < Instant(u64::MAX))
    }
}
