//! A request of a run: its ledger line, its agent, and its cache usage.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Date, ModelKey, Money, PriceBook, Terms};
use forkcast_sim::service::{Entry, Verdict};
use forkcast_sim::simulation::{Drafts, Logged};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Draft, Mark, Ttl, Usage};

use super::agent::Agent;

/// A request.
#[derive(Clone)]
pub struct Request {
    /// The ledger entry.
    pub entry: Entry,
    /// Its agent, as an index into the run's agents.
    pub agent: usize,
    /// Number of this agent's earlier requests that were answered.
    pub turn: u32,
    /// How often this same request was sent before.
    pub attempt: u32,
    /// How much was read of what the previous request left in the cache: the previous request of its chain, or the
    /// parent's last request for a fork's first.
    pub verdict: Verdict,
    /// How many tokens that request left in the cache: its reads and writes. `None` if there is none.
    pub expected_tokens: Option<u64>,
    /// The cost of the same tokens without a cache.
    pub cost_without_cache: Option<Money>,
    /// The cost with an empty cache: read tokens are written instead, if there is a breakpoint.
    pub cost_cold: Option<Money>,
    /// Number of breakpoints.
    pub breakpoints: u64,
    drafts: Rc<Drafts>,
}

impl Deref for Request {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("line", &self.line)
            .field("agent", &self.agent)
            .field("turn", &self.turn)
            .finish()
    }
}

impl Request {
    /// Its usage.
    pub fn usage(&self) -> Usage {
        self.line.billed().unwrap_or_default()
    }

    /// The request as sent. Takes time proportional to its messages.
    pub fn draft(&self) -> Draft {
        self.drafts.draft(self.line.index)
    }

    /// Its bill.
    pub fn cost(&self) -> Option<Money> {
        self.line.charge.bill.as_ref().map(|bill| bill.total)
    }

    /// The causes of its misses, most tokens first.
    pub fn causes(&self) -> Vec<(Cause, u64)> {
        let mut causes: BTreeMap<Cause, u64> = BTreeMap::new();
        for part in &self.line.charge.causes {
            *causes.entry(part.cause).or_default() += part.tokens;
        }
        let mut causes: Vec<(Cause, u64)> = causes.into_iter().collect();
        causes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        causes
    }
}

/// Turn and attempt of every sent request, by agent and instant.
pub fn sent(events: &[Logged]) -> BTreeMap<(&str, Instant), (u32, u32)> {
    let sent = events.iter().filter_map(|logged| match &logged.event {
        Event::RequestSent { agent, turn, attempt, .. } => Some(((&**agent, logged.at), (*turn, *attempt))),
        _ => None,
    });
    sent.collect()
}

/// Every ledger line with its request, in sending order.
pub fn requests(
    entries: Vec<Entry>,
    drafts: Drafts,
    agents: &[Agent],
    sent: &BTreeMap<(&str, Instant), (u32, u32)>,
    book: &PriceBook,
    prices_of: Option<Date>,
) -> Vec<Request> {
    let mut left: Vec<u64> = Vec::with_capacity(entries.len());
    let mut requests = Vec::with_capacity(entries.len());
    let drafts = Rc::new(drafts);
    let places: BTreeMap<&str, usize> = agents.iter().enumerate().map(|(at, agent)| (&*agent.id, at)).collect();
    for entry in entries {
        let line = &entry.line;
        let name = entry.agent.as_deref().unwrap_or_default();
        let agent = places.get(name).copied().unwrap_or(0);
        let marks = drafts.marks(line.index);
        let usage = line.billed().unwrap_or_default();
        let read = usage.cache_read_input_tokens;
        let expected_tokens = entry.layout.continues.and_then(|line| left.get(line)).copied();
        left.push(read + usage.cache_creation_input_tokens());
        let (turn, attempt) = sent.get(&(name, line.at.unwrap_or_default())).copied().unwrap_or_default();
        requests.push(Request {
            agent,
            turn,
            attempt,
            verdict: Verdict::of(read, expected_tokens),
            expected_tokens,
            cost_without_cache: price(line, &without_cache(&usage), book, prices_of),
            cost_cold: price(line, &cold(&usage, marks), book, prices_of),
            breakpoints: marks.len() as u64,
            drafts: Rc::clone(&drafts),
            entry,
        });
    }
    requests
}

/// The same tokens, with none read or written.
fn without_cache(usage: &Usage) -> Usage {
    Usage { input_tokens: usage.total_input_tokens(), output_tokens: usage.output_tokens, ..Usage::default() }
}

/// The same tokens, with read tokens written instead, at the TTL of the last breakpoint. Without a breakpoint there are
/// no reads.
fn cold(usage: &Usage, marks: &[Mark]) -> Usage {
    let read = usage.cache_read_input_tokens;
    let mut cold = Usage { cache_read_input_tokens: 0, ..*usage };
    match marks.iter().max_by_key(|mark| (mark.level, mark.item, mark.part)).map(|mark| mark.ttl) {
        Some(Ttl::OneHour) => cold.ephemeral_1h_input_tokens += read,
        Some(Ttl::FiveMinutes) => cold.ephemeral_5m_input_tokens += read,
        None => cold.input_tokens += read,
    }
    cold
}

fn price(line: &Line, usage: &Usage, book: &PriceBook, prices_of: Option<Date>) -> Option<Money> {
    let terms = Terms { date: prices_of, ..Terms::of(usage) };
    let rates = book.rates(&ModelKey::from(line.model.as_str()), &terms).ok()?;
    Some(rates.bill(usage, &[]).total)
}
