//! One request through the cache: what it reads and writes, why it missed, what it costs, which of its writes stay
//! unread.

use super::delivery::{Delivery, Times};
use super::entry::Entry;
use super::premiums::{Premiums, Unread, stretches};
use super::tariff::Quote;
use crate::cache::{EntryState, Outcome, Prompt, PromptCache, Rules, Ticket};
use crate::diagnosis::{
    BilledRequest, Circumstances, Explanation, RejectedThinking, Subject, ThinkingCheck, ThinkingTurn, explain,
};
use crate::pricing::Rates;
use crate::time::Instant;
use crate::wire::{ChainId, Marker, NodeId, Prefixes, Sizes, Usage, Wire};

/// A request with its sizes and the facts that decide how a cache treats it.
#[derive(Clone, Copy)]
pub struct SizedRequest<'a> {
    /// The prompt, with the sizes that the cache sees.
    pub prompt: Prompt<'a>,
    /// Its content; `None` if it is unknown, or no explanation is needed.
    pub grounds: Option<Grounds<'a>>,
    /// What the provider reported.
    pub recorded: Option<Usage>,
    /// The prefixes that were read and written, if the reader of the recording knows them better than its sizes show.
    pub movement: Option<Movement<'a>>,
    /// When it was sent.
    pub at: Instant,
    /// What decides the outcome of its thinking besides body and day.
    pub circumstances: Circumstances,
}

/// The data that explains a request.
#[derive(Clone, Copy)]
pub struct Grounds<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The request, with its sizes in tokens of the bill.
    pub request: &'a Subject,
    /// The request that it continues.
    pub previous: Option<&'a Subject>,
    /// Its chain; `None` if it has none.
    pub chain: Option<ChainId>,
    /// The chain that its chain continues, for the first request of a fork.
    pub parent: Option<ChainId>,
}

/// The parts of a prompt that were read and written.
#[derive(Clone, Copy, Debug)]
pub struct Movement<'a> {
    /// The prefix that was read.
    pub read: Option<NodeId>,
    /// The end of each written stretch, with its tokens.
    pub written: &'a [(Marker, u64)],
}

/// Result of serving a request.
#[derive(Clone, Debug)]
pub struct Reading {
    /// To report its answer with; `None` if it was refused.
    pub ticket: Option<Ticket>,
    /// What the rules predict.
    pub predicted: Outcome,
    /// The usage billed: as the provider reported it, else as predicted.
    pub usage: Usage,
    /// Where its input tokens went.
    pub explanation: Option<Explanation>,
    /// Thinking in it that its provider does not take as it is; the cache is asked all the same.
    pub thinking: Option<RejectedThinking>,
}

/// A cache, its pending answers, the writes to it, and the entries of the requests that it served, in order.
#[derive(Clone, Debug)]
pub struct Engine {
    delivery: Delivery,
    premiums: Premiums,
    thinking: ThinkingCheck,
    /// Number of the first line.
    first_line: usize,
    /// Number of the first chain among those of all engines.
    first_chain: usize,
    entries: Vec<Entry>,
}

impl<'a> SizedRequest<'a> {
    /// A request sent at `at`; nothing else is known about it.
    pub fn new(prompt: Prompt<'a>, at: Instant) -> Self {
        Self { prompt, grounds: None, recorded: None, movement: None, at, circumstances: Circumstances::default() }
    }

    /// The longest prefix within `tokens`: most likely the prefix of a recorded read of this size.
    pub fn node_of(&self, tokens: u64) -> Option<NodeId> {
        let request = self.grounds?.request;
        request.blocks_within(tokens).checked_sub(1).map(|at| request.request.nodes[at])
    }

    /// Whether the provider should have refused it.
    fn is_refused(&self) -> bool {
        self.grounds.is_some_and(|grounds| grounds.request.refusal.is_some())
    }

    /// The prefix that was read, if the cache predicted `predicted` and `usage` was billed.
    fn read(&self, predicted: &Outcome, usage: &Usage) -> Option<NodeId> {
        let read = usage.cache_read_input_tokens;
        let hit = match self.movement {
            Some(movement) => movement.read,
            None if read == predicted.read_tokens => predicted.hit,
            None => self.node_of(read),
        };
        hit.filter(|_| read > 0)
    }

    /// The stretches written after the read prefix.
    fn written(&self, usage: &Usage) -> Vec<(Marker, u64)> {
        if usage.cache_creation_input_tokens() == 0 {
            return Vec::new();
        }
        if let Some(movement) = self.movement {
            return movement.written.to_vec();
        }
        let Prompt { prefixes, sizes, .. } = self.prompt;
        let billed = self.grounds.map(|grounds| grounds.request.sizes(prefixes));
        let sizes = billed.as_ref().map_or(sizes, |billed| billed as &dyn Sizes);
        stretches(self.prompt.effective(), sizes, usage.cache_read_input_tokens)
    }
}

impl Engine {
    /// An empty cache for the requests from line `first_line` on. `seed` matters only if the rules lose writes by
    /// chance.
    pub fn new(rules: &Rules, seed: u64, first_line: usize, first_chain: usize) -> Self {
        let (delivery, premiums) = (Delivery::new(rules, seed), Premiums::from_line(first_line));
        Self { delivery, premiums, thinking: ThinkingCheck::default(), first_line, first_chain, entries: Vec::new() }
    }

    /// About so many entries will follow: the list need not be moved as it grows.
    pub fn reserve(&mut self, entries: usize) {
        self.entries.reserve(entries);
    }

    /// The cache, with the answers reported so far.
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

    /// Result of a look-up, without changing anything.
    pub fn foresee(&self, asked: &SizedRequest<'_>) -> Outcome {
        match asked.is_refused() {
            true => Outcome { input_tokens: asked.prompt.total_tokens, ..Outcome::default() },
            false => self.cache().peek(&asked.prompt, asked.at),
        }
    }

    /// Where the request's input tokens go, if the cache behaves as `predicted`.
    pub fn explain(&self, asked: &SizedRequest<'_>, predicted: &Outcome) -> Option<Explanation> {
        let Grounds { wire, request, previous, .. } = asked.grounds?;
        Some(explain(&BilledRequest {
            wire,
            request,
            usage: &asked.recorded.unwrap_or_else(|| predicted.usage()),
            predicted,
            previous,
            cache: self.cache(),
            at: asked.at,
        }))
    }

    /// Lets a request act on the cache. Its writes are followed under the number of its `line`; a copy of another request
    /// has none.
    pub fn serve(&mut self, asked: &SizedRequest<'_>, line: Option<usize>) -> Reading {
        self.deliver_until(asked.prompt.prefixes, asked.at);
        let foreseen = asked.grounds.map(|_| self.foresee(asked));
        let explanation = foreseen.as_ref().and_then(|foreseen| self.explain(asked, foreseen));
        let thinking = self.check_thinking(asked);
        let (ticket, predicted) = if asked.is_refused() {
            (None, self.foresee(asked))
        } else {
            let (ticket, outcome) = self.delivery.look_up(&asked.prompt, asked.at);
            (Some(ticket), outcome)
        };
        debug_assert!(foreseen.is_none_or(|foreseen| foreseen == predicted), "a look-up returns the forecast");
        let usage = asked.recorded.unwrap_or_else(|| predicted.usage());
        if ticket.is_some() {
            self.follow(asked, &predicted, &usage, line);
        }
        Reading { ticket, predicted, usage, explanation, thinking }
    }

    /// The first thinking of a request that its provider does not take as it is.
    fn check_thinking(&mut self, asked: &SizedRequest<'_>) -> Option<RejectedThinking> {
        let Grounds { wire, request, previous, chain, parent } = asked.grounds?;
        let previous = previous.map(|previous| &previous.request);
        let circumstances = asked.circumstances.at(Some(asked.at));
        let turn = ThinkingTurn { wire, request: &request.request, chain: chain?, previous, parent, circumstances };
        self.thinking.take(&turn).rejected
    }

    /// Follows the reads and writes of a request.
    fn follow(&mut self, asked: &SizedRequest<'_>, predicted: &Outcome, usage: &Usage, line: Option<usize>) {
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
        if let Some(line) = line {
            let written = asked.written(usage);
            self.premiums.wrote(prefixes, line, &written);
        }
    }

    /// A request that is not recorded acts on the cache; its writes are not followed.
    pub fn serve_unseen(&mut self, prompt: &Prompt<'_>, at: Instant) {
        self.delivery.serve_at_once(prompt, at);
    }

    /// When the answer to a request begins and ends.
    pub fn expect(&mut self, ticket: Ticket, times: &Times) {
        self.delivery.expect(ticket, times);
    }

    /// When a request is given up, before the first byte of its answer.
    pub fn expect_nothing(&mut self, ticket: Ticket, at: Instant) {
        self.delivery.expect_nothing(ticket, at);
    }

    /// Reports every answer that began by `at` to the cache.
    pub fn deliver_until(&mut self, prefixes: &Prefixes, at: Instant) {
        self.delivery.deliver_until(prefixes, at);
    }

    /// The cache, for callers that report answers themselves.
    pub fn cache_mut(&mut self) -> &mut dyn PromptCache {
        self.delivery.cache_mut()
    }

    /// Bills `usage` and keeps the entry, with a price for its writes.
    pub fn bill(&mut self, entry: Entry, usage: &Usage, quote: &Quote) {
        if let Some(rates) = quote.rates {
            self.premiums.price(entry.line.index, rates);
        }
        self.count(entry, usage, quote);
    }

    /// Bills `usage` and keeps the entry of a request with writes that are not followed: they get no premium.
    pub fn count(&mut self, mut entry: Entry, usage: &Usage, quote: &Quote) {
        let line = &mut entry.line;
        debug_assert_eq!(line.index, self.next_line(), "entries are kept in the order of their lines");
        line.remarks.extend_from_slice(&quote.remarks);
        line.price(usage, quote.rates.as_ref(), &quote.fees);
        entry.chain = entry.line.chain.map(|chain| self.first_chain + chain.0 as usize);
        self.entries.push(entry);
    }

    /// Replaces the usage of a line. Fees stay with requests that are recorded.
    pub fn rebill(&mut self, line: usize, usage: Usage) {
        let rates: Option<&Rates> = self.premiums.rates(line);
        let line = &mut self.entries[line - self.first_line].line;
        line.predicted = Some(usage);
        if usage == Usage::default() {
            line.explanation = Some(Explanation::default());
        }
        line.price(&usage, rates, &[]);
    }

    /// The writes that nothing has read, at the end of the stream.
    pub fn unread(&self) -> Unread {
        self.premiums.unread()
    }

    /// At the end of the stream: passes on the entries so far, with what each line paid for `unread` writes. Lines that
    /// are added afterwards are numbered as if the entries were still here.
    pub fn release(&mut self, unread: &Unread, take: &mut dyn FnMut(Entry)) {
        self.premiums.settle(unread, &mut self.entries);
        self.first_line += self.entries.len();
        self.entries.drain(..).for_each(take);
    }

    /// Ends the stream: returns the entries, with what each line paid for unread writes.
    pub fn finish(&mut self) -> Vec<Entry> {
        self.premiums.settle(&self.premiums.unread(), &mut self.entries);
        std::mem::take(&mut self.entries)
    }
}
