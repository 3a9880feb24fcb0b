//! One request through the cache: what it reads and writes, why it missed, what it costs, what of its writes stays unread.

use super::delivery::{Delivery, Times};
use super::entry::Entry;
use super::premiums::{Premiums, stretches};
use super::tariff::Quote;
use crate::cache::{EntryState, Outcome, Prompt, PromptCache, Refusal, Rules, Ticket};
use crate::diagnosis::{BilledRequest, Explanation, Subject, explain};
use crate::pricing::Rates;
use crate::time::Instant;
use crate::wire::{Marker, NodeId, PathSizes, Prefixes, Request, Sizes, Usage, Wire};

/// A request with its sizes and the facts that decide what a cache makes of it.
#[derive(Clone, Copy)]
pub struct SizedRequest<'a> {
    /// The prompt, with the sizes that the cache sees.
    pub prompt: Prompt<'a>,
    /// Its content; `None` where it is unknown, or need not be explained.
    pub grounds: Option<Grounds<'a>>,
    /// Why the provider should have refused it.
    pub refusal: Option<&'a Refusal>,
    /// What the provider reported.
    pub recorded: Option<Usage>,
    /// What of the prompt was read and written, where whoever rebuilt it knows better than its sizes.
    pub movement: Option<Movement<'a>>,
    /// When it was sent.
    pub at: Instant,
}

/// What a request is explained by.
#[derive(Clone, Copy)]
pub struct Grounds<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The request.
    pub request: &'a Request,
    /// Tokens of each of its prefixes in tokens of the bill.
    pub billed: &'a [u64],
    /// What it goes on from.
    pub previous: Option<&'a Subject>,
}

/// What of a prompt was read and written.
#[derive(Clone, Copy, Debug)]
pub struct Movement<'a> {
    /// The prefix that was read.
    pub read: Option<NodeId>,
    /// Where each written stretch ends, with its tokens.
    pub written: &'a [(Marker, u64)],
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

/// A cache, the answers that it is yet to learn of, what was written to it, and the entries of those who asked it, one after the other.
#[derive(Clone, Debug)]
pub struct Engine {
    delivery: Delivery,
    premiums: Premiums,
    /// Number of the first line.
    first_line: usize,
    /// Number of the first chain among those of all engines.
    first_chain: usize,
    entries: Vec<Entry>,
}

impl<'a> SizedRequest<'a> {
    /// A request sent at `at`; nothing else is known about it.
    pub const fn new(prompt: Prompt<'a>, at: Instant) -> Self {
        Self { prompt, grounds: None, refusal: None, recorded: None, movement: None, at }
    }

    /// The longest prefix within `tokens`: what a recorded read of so many tokens most likely was.
    pub fn node_of(&self, tokens: u64) -> Option<NodeId> {
        let Grounds { request, billed, .. } = self.grounds?;
        let within = billed.partition_point(|size| *size <= tokens);
        within.checked_sub(1).map(|at| request.nodes[at])
    }

    /// The prefix that was read, if the cache gave what is `predicted` and `usage` was billed.
    fn read(&self, predicted: &Outcome, usage: &Usage) -> Option<NodeId> {
        let read = usage.cache_read_input_tokens;
        let hit = match self.movement {
            Some(movement) => movement.read,
            None if read == predicted.read_tokens => predicted.hit,
            None => self.node_of(read),
        };
        hit.filter(|_| read > 0)
    }

    /// What was written after what was read.
    fn written(&self, usage: &Usage) -> Vec<(Marker, u64)> {
        if usage.cache_creation_input_tokens() == 0 {
            return Vec::new();
        }
        if let Some(movement) = self.movement {
            return movement.written.to_vec();
        }
        let Prompt { prefixes, sizes, .. } = self.prompt;
        let billed = self.grounds.map(|grounds| PathSizes::new(prefixes, &grounds.request.nodes, grounds.billed));
        let sizes = billed.as_ref().map_or(sizes, |billed| billed as &dyn Sizes);
        stretches(self.prompt.effective(), sizes, usage.cache_read_input_tokens)
    }
}

impl Engine {
    /// An empty cache for the requests from line `first_line` on. `seed` matters only where the rules lose writes by chance.
    pub fn new(rules: &Rules, seed: u64, first_line: usize, first_chain: usize) -> Self {
        let (delivery, premiums) = (Delivery::new(rules, seed), Premiums::from_line(first_line));
        Self { delivery, premiums, first_line, first_chain, entries: Vec::new() }
    }

    /// The cache as it was told of until now.
    pub fn cache(&self) -> &dyn PromptCache {
        self.delivery.cache()
    }

    /// The entries so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a line.
    pub fn entry_mut(&mut self, line: usize) -> &mut Entry {
        &mut self.entries[line - self.first_line]
    }

    /// Number of the line that the next entry has.
    pub fn next_line(&self) -> usize {
        self.first_line + self.entries.len()
    }

    /// What the cache would give, changing nothing.
    pub fn foresee(&self, asked: &SizedRequest<'_>) -> Outcome {
        match asked.refusal {
            Some(_) => Outcome { input_tokens: asked.prompt.total_tokens, ..Outcome::default() },
            None => self.cache().peek(&asked.prompt, asked.at),
        }
    }

    /// Where the request's input tokens go, if the cache gives what is `predicted`.
    pub fn explain(&self, asked: &SizedRequest<'_>, predicted: &Outcome) -> Option<Explanation> {
        let Grounds { wire, request, billed, previous } = asked.grounds?;
        Some(explain(&BilledRequest {
            wire,
            request,
            cumulative: billed,
            minimum_tokens: asked.prompt.minimum_tokens,
            usage: &asked.recorded.unwrap_or_else(|| predicted.usage()),
            predicted,
            refusal: asked.refusal,
            previous,
            cache: self.cache(),
            at: asked.at,
        }))
    }

    /// Lets a request act on the cache. What it wrote is followed as written by the next line, if it `has_line`: a copy of
    /// another request has none.
    pub fn serve(&mut self, asked: &SizedRequest<'_>, has_line: bool) -> Reading {
        self.deliver_until(asked.prompt.prefixes, asked.at);
        let foreseen = asked.grounds.map(|_| self.foresee(asked));
        let explanation = foreseen.as_ref().and_then(|foreseen| self.explain(asked, foreseen));
        let (ticket, predicted) = match asked.refusal {
            Some(_) => (None, self.foresee(asked)),
            None => {
                let (ticket, outcome) = self.delivery.look_up(&asked.prompt, asked.at);
                (Some(ticket), outcome)
            }
        };
        debug_assert!(foreseen.is_none_or(|foreseen| foreseen == predicted), "a look-up gives what was foreseen");
        let usage = asked.recorded.unwrap_or_else(|| predicted.usage());
        if ticket.is_some() {
            self.follow(asked, &predicted, &usage, has_line);
        }
        Reading { ticket, predicted, usage, explanation }
    }

    /// Follows what the request read and wrote.
    fn follow(&mut self, asked: &SizedRequest<'_>, predicted: &Outcome, usage: &Usage, has_line: bool) {
        let Self { delivery, premiums, .. } = self;
        let prefixes = asked.prompt.prefixes;
        let hit = asked.read(predicted, usage);
        if let Some(end) = asked.prompt.markers.last() {
            let state = |node| delivery.cache().state(prefixes, node, asked.at);
            premiums
                .lose(prefixes, end.node, hit, |node| matches!(state(node), EntryState::Expired | EntryState::Evicted));
        }
        if let Some(hit) = hit {
            premiums.read(prefixes, hit);
        }
        if has_line {
            let written = asked.written(usage);
            self.premiums.wrote(prefixes, self.next_line(), &written);
        }
    }

    /// A request that is not recorded acts on the cache; its writes are not followed.
    pub fn serve_unseen(&mut self, prompt: &Prompt<'_>, at: Instant) {
        self.delivery.serve_at_once(prompt, at);
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

    /// Bills `usage` and keeps the entry. Its writes have a price.
    pub fn bill(&mut self, entry: Entry, usage: &Usage, quote: &Quote) {
        if let Some(rates) = quote.rates {
            self.premiums.price(entry.line.index, rates);
        }
        self.count(entry, usage, quote);
    }

    /// Bills `usage` and keeps the entry of a request whose writes are not followed: they get no premium.
    pub fn count(&mut self, mut entry: Entry, usage: &Usage, quote: &Quote) {
        let line = &mut entry.line;
        debug_assert_eq!(line.index, self.next_line(), "entries are kept in the order of their lines");
        line.remarks.extend_from_slice(&quote.remarks);
        line.price(usage, quote.rates.as_ref(), &quote.fees);
        entry.chain = entry.line.chain.map(|chain| self.first_chain + chain.0 as usize);
        self.entries.push(entry);
    }

    /// The usage of a line turned out to be another. Fees stay with requests that are recorded.
    pub fn rebill(&mut self, line: usize, usage: Usage) {
        let rates: Option<&Rates> = self.premiums.rates(line);
        let line = &mut self.entries[line - self.first_line].line;
        line.predicted = Some(usage);
        if usage == Usage::default() {
            line.explanation = Some(Explanation::default());
        }
        line.price(&usage, rates, &[]);
    }

    /// No more requests come: the entries, with what each line paid for unread writes.
    pub fn finish(&mut self) -> Vec<Entry> {
        self.premiums.settle(&mut self.entries);
        std::mem::take(&mut self.entries)
    }
}
