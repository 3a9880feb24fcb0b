//! A day of requests to one cache: each is read, served, explained, and takes effect once its answer begins. A block
//! has as many tokens as canonical bytes.

use std::collections::BTreeMap;

use forkcast_sim::cache::{MarkedCache, Outcome, Prompt, PromptCache, Refusal, Rules, Ticket, refusal};
use forkcast_sim::diagnosis::{BilledRequest, Explanation, Subject, explain};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{NodeId, PathSizes, Request, Usage, Wire};

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

/// A request as read.
struct Read {
    request: Request,
    cumulative: Vec<u64>,
    refusal: Option<Refusal>,
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
            request: &read.request,
            cumulative: &read.cumulative,
            minimum_tokens: self.minimum_tokens,
            usage: &usage,
            predicted: &predicted,
            refusal: read.refusal.as_ref(),
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

    fn read(&mut self, sent: &Sent) -> Read {
        self.answer_until(sent.at);
        let request = self.wire.read(sent.body.as_bytes(), &sent.scope, "");
        let request = request.unwrap_or_else(|error| panic!("{}: {error}", sent.body));
        let (cumulative, refusal) = (self.sizes(&request), refusal::check(&request, &self.rules).err());
        Read { request, cumulative, refusal }
    }

    fn outcome(&self, read: &Read, at: Instant) -> Outcome {
        if read.refusal.is_some() {
            let input_tokens = read.cumulative.last().copied().unwrap_or(0);
            return Outcome { input_tokens, ..Outcome::default() };
        }
        let sizes = PathSizes::new(&self.wire.prefixes, &read.request.nodes, &read.cumulative);
        self.cache.peek(&prompt(&self.wire, read, &sizes, self.minimum_tokens), at)
    }

    fn take_effect(&mut self, read: &Read, sent: &Sent) {
        let sizes = PathSizes::new(&self.wire.prefixes, &read.request.nodes, &read.cumulative);
        let (ticket, _) = self.cache.look_up(&prompt(&self.wire, read, &sizes, self.minimum_tokens), sent.at);
        self.answers.insert((sent.at + sent.begins_after, ticket), ());
        let previous = Subject {
            number: 0,
            request: read.request.clone(),
            cumulative: read.cumulative.clone(),
            minimum_tokens: self.minimum_tokens,
            refusal: None,
        };
        self.previous.insert(sent.chain.clone(), previous);
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

fn prompt<'a>(wire: &'a Wire, read: &'a Read, sizes: &'a PathSizes<'a>, minimum_tokens: u64) -> Prompt<'a> {
    Prompt {
        prefixes: &wire.prefixes,
        markers: &read.request.markers,
        sizes,
        total_tokens: read.cumulative.last().copied().unwrap_or(0),
        minimum_tokens,
    }
}
