//! A day of requests to one cache: each is read, served, explained, and takes effect once its answer begins. A block
//! has as many tokens as canonical bytes.

use std::collections::BTreeMap;

use forkcast_sim::cache::{MarkedCache, Outcome, PromptCache, Rules, Ticket, refusal};
use forkcast_sim::diagnosis::{BilledRequest, Explanation, Subject, explain};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{NodeId, Request, Usage, Wire};

/// One request of the day.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// How long its first byte takes.
    pub begins_after: Duration,
    /// The scope of its cache.
    pub scope: String,
    /// The agent.
    pub chain: String,
    /// The body.
    pub body: String,
    /// Its bill, if it is not the predicted one.
    pub usage: Option<Usage>,
}

/// Its result.
pub struct Served {
    /// The request as read.
    pub request: Request,
    /// Tokens of each of its prefixes.
    pub cumulative: Vec<u64>,
    /// Its bill.
    pub usage: Usage,
    /// Where every token went.
    pub explanation: Explanation,
}

/// The state of a day.
#[derive(Clone)]
pub struct Day {
    /// Everything that was sent.
    pub wire: Wire,
    rules: Rules,
    minimum_tokens: u64,
    cache: MarkedCache,
    previous: BTreeMap<String, Subject>,
    answers: BTreeMap<(Instant, Ticket), ()>,
}

impl Day {
    pub fn new(rules: Rules, minimum_tokens: u64) -> Self {
        Self {
            wire: Wire::new(rules.forms),
            rules,
            minimum_tokens,
            cache: MarkedCache::new(rules, 0),
            previous: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }

    /// Sends a request: returns its bill with the causes.
    pub fn send(&mut self, sent: &Sent) -> Served {
        let read = self.read(sent);
        let predicted = self.outcome(&read, sent.at);
        let usage = sent.usage.unwrap_or_else(|| predicted.usage());
        let explanation = explain(&BilledRequest {
            wire: &self.wire,
            request: &read,
            usage: &usage,
            predicted: &predicted,
            previous: self.previous.get(&sent.chain),
            cache: &self.cache,
            at: sent.at,
        });
        if read.refusal.is_none() {
            self.take_effect(&read, sent);
        }
        Served { request: read.request, cumulative: read.cumulative, usage, explanation }
    }

    /// The bill that a request would get. The request counts as sent afterwards, so this is called on a copy.
    pub fn predict(&self, sent: &Sent) -> Usage {
        let mut copy = self.clone();
        let read = copy.read(sent);
        copy.outcome(&read, sent.at).usage()
    }

    fn read(&mut self, sent: &Sent) -> Subject {
        self.answer_until(sent.at);
        let request = self.wire.read(sent.body.as_bytes(), &sent.scope, "");
        let request = request.unwrap_or_else(|error| panic!("{}: {error}", sent.body));
        let (cumulative, refusal) = (self.sizes(&request), refusal::check(&request, &self.rules).err());
        Subject { number: 0, request, cumulative, minimum_tokens: self.minimum_tokens, refusal }
    }

    fn outcome(&self, read: &Subject, at: Instant) -> Outcome {
        if read.refusal.is_some() {
            let input_tokens = read.total_tokens();
            return Outcome { input_tokens, ..Outcome::default() };
        }
        let sizes = read.sizes(&self.wire.prefixes);
        self.cache.peek(&read.prompt(&self.wire.prefixes, &sizes), at)
    }

    fn take_effect(&mut self, read: &Subject, sent: &Sent) {
        let sizes = read.sizes(&self.wire.prefixes);
        let (ticket, _) = self.cache.look_up(&read.prompt(&self.wire.prefixes, &sizes), sent.at);
        self.answers.insert((sent.at + sent.begins_after, ticket), ());
        self.previous.insert(sent.chain.clone(), read.clone());
    }

    /// Reports every answer that began by `at` to the cache.
    fn answer_until(&mut self, at: Instant) {
        while let Some(entry) = self.answers.first_entry().filter(|entry| entry.key().0 <= at) {
            let ((begun, ticket), ()) = entry.remove_entry();
            self.cache.first_byte(&self.wire.prefixes, ticket, begun);
            self.cache.ended(&self.wire.prefixes, ticket, begun);
        }
    }

    fn sizes(&self, request: &Request) -> Vec<u64> {
        let mut sum = 0;
        let size = |node| self.wire.blocks.len_bytes(self.wire.prefixes.block(node).unwrap());
        let mut cumulative = |node: &NodeId| {
            sum += size(*node);
            sum
        };
        request.nodes.iter().map(&mut cumulative).collect()
    }
}
