//! One request through the cache: what it reads and writes, why it missed, what of its writes nobody read.

use super::delivery::{Delivery, Times};
use super::entry::Entry;
use super::premiums::{Premiums, stretches};
use crate::cache::{Outcome, Prompt, PromptCache, Refusal, Rules, Ticket};
use crate::diagnosis::{BilledRequest, Explanation, Subject, explain};
use crate::pricing::Rates;
use crate::time::Instant;
use crate::wire::{NodeId, PathSizes, Prefixes, Request, Sizes, Usage, Wire};

/// A request with its sizes and the facts that are known of it.
#[derive(Clone, Copy)]
pub struct SizedRequest<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The request.
    pub request: &'a Request,
    /// Tokens of each of its prefixes, as the cache is told.
    pub sizes: &'a dyn Sizes,
    /// Tokens of the whole prompt, as the cache is told.
    pub total_tokens: u64,
    /// Tokens of each of its prefixes in tokens of the bill; `None` where nobody wants it explained.
    pub billed: Option<&'a [u64]>,
    /// Why the provider should have refused it.
    pub refusal: Option<&'a Refusal>,
    /// What it goes on from.
    pub previous: Option<&'a Subject>,
    /// What the provider reported.
    pub recorded: Option<Usage>,
    /// When it was sent.
    pub at: Instant,
}

/// What the cache made of a request.
#[derive(Clone, Debug)]
pub struct Reading {
    /// For telling of its answer; `None` where it was refused.
    pub ticket: Option<Ticket>,
    /// What the rules predict.
    pub predicted: Outcome,
    /// What was billed: as the provider reported, else as predicted.
    pub usage: Usage,
    /// Where its input tokens went.
    pub explanation: Option<Explanation>,
}

/// A cache, what it is yet to be told of, and what was written to it. Whoever has requests asks it, one after the other.
#[derive(Clone, Debug)]
pub struct Engine {
    delivery: Delivery,
    premiums: Premiums,
}

impl<'a> SizedRequest<'a> {
    /// A request sent at `at` of which nothing else is known.
    pub const fn new(
        wire: &'a Wire,
        request: &'a Request,
        sizes: &'a dyn Sizes,
        total_tokens: u64,
        at: Instant,
    ) -> Self {
        Self { wire, request, sizes, total_tokens, billed: None, refusal: None, previous: None, recorded: None, at }
    }

    fn prefixes(&self) -> &'a Prefixes {
        &self.wire.prefixes
    }

    fn prompt(&self) -> Prompt<'a> {
        Prompt::of(self.prefixes(), self.request, self.sizes, self.total_tokens)
    }

    /// The longest prefix within `tokens`: what a recorded read of so many tokens most likely was.
    pub fn node_of(&self, tokens: u64) -> Option<NodeId> {
        let within = self.billed?.partition_point(|size| *size <= tokens);
        within.checked_sub(1).map(|at| self.request.nodes[at])
    }
}

impl Engine {
    /// An empty cache for the requests from line `first` on. `seed` matters only where the rules lose writes by chance.
    pub fn new(rules: &Rules, seed: u64, first: usize) -> Self {
        Self { delivery: Delivery::new(rules, seed), premiums: Premiums::from_line(first) }
    }

    /// The cache as it was told of until now.
    pub fn cache(&self) -> &dyn PromptCache {
        self.delivery.cache()
    }

    /// What the cache would give, changing nothing.
    pub fn foresee(&self, asked: &SizedRequest<'_>) -> Outcome {
        match asked.refusal {
            Some(_) => Outcome { input_tokens: asked.total_tokens, ..Outcome::default() },
            None => self.cache().peek(&asked.prompt(), asked.at),
        }
    }

    /// Where the request's input tokens go, if the cache gives what is `predicted`.
    pub fn explain(&self, asked: &SizedRequest<'_>, predicted: &Outcome) -> Option<Explanation> {
        Some(explain(&BilledRequest {
            wire: asked.wire,
            request: asked.request,
            cumulative: asked.billed?,
            minimum_tokens: asked.prompt().minimum_tokens,
            usage: &asked.recorded.unwrap_or_else(|| predicted.usage()),
            predicted,
            refusal: asked.refusal,
            previous: asked.previous,
            cache: self.cache(),
            at: asked.at,
        }))
    }

    /// Lets the request of a line act on the cache.
    pub fn serve(&mut self, line: usize, asked: &SizedRequest<'_>) -> Reading {
        self.deliver_until(asked.prefixes(), asked.at);
        let foreseen = asked.billed.map(|_| self.foresee(asked));
        let explanation = foreseen.as_ref().and_then(|foreseen| self.explain(asked, foreseen));
        let (ticket, predicted) = match asked.refusal {
            Some(_) => (None, self.foresee(asked)),
            None => {
                let (ticket, outcome) = self.delivery.look_up(&asked.prompt(), asked.at);
                (Some(ticket), outcome)
            }
        };
        debug_assert!(foreseen.is_none_or(|foreseen| foreseen == predicted), "a look-up gives what was foreseen");
        let usage = asked.recorded.unwrap_or_else(|| predicted.usage());
        if ticket.is_some() {
            self.follow(line, asked, &predicted, &usage);
        }
        Reading { ticket, predicted, usage, explanation }
    }

    /// Follows what the request read and wrote.
    fn follow(&mut self, line: usize, asked: &SizedRequest<'_>, predicted: &Outcome, usage: &Usage) {
        let read = usage.cache_read_input_tokens;
        let hit = if read == predicted.read_tokens { predicted.hit } else { asked.node_of(read) };
        if let Some(hit) = hit.filter(|_| read > 0) {
            self.premiums.read(asked.prefixes(), hit);
        }
        if usage.cache_creation_input_tokens() == 0 {
            return;
        }
        let billed = asked.billed.map(|billed| PathSizes::new(asked.prefixes(), &asked.request.nodes, billed));
        let sizes = billed.as_ref().map_or(asked.sizes, |billed| billed as &dyn Sizes);
        let written = stretches(asked.prompt().effective(), sizes, read);
        self.premiums.wrote(asked.prefixes(), line, &written);
    }

    /// When the answer to a request will have come.
    pub fn expect(&mut self, ticket: Ticket, times: &Times) {
        self.delivery.expect(ticket, times);
    }

    /// Tells the cache of every answer that began by `at`.
    pub fn deliver_until(&mut self, prefixes: &Prefixes, at: Instant) {
        self.delivery.deliver_until(prefixes, at);
    }

    /// The cache, to be told of an answer as it comes.
    pub fn cache_mut(&mut self) -> &mut dyn PromptCache {
        self.delivery.cache_mut()
    }

    /// The writes of a line have a price.
    pub fn price(&mut self, line: usize, rates: Rates) {
        self.premiums.price(line, rates);
    }

    /// The prices of a line.
    pub fn rates(&self, line: usize) -> Option<&Rates> {
        self.premiums.rates(line)
    }

    /// Nobody asks any more: fills in what each line paid for writes that nobody read.
    pub fn settle(&self, entries: &mut [Entry]) {
        self.premiums.settle(entries);
    }
}
