//! Read, new or missed: accounts for every input token of a request and names one cause for each missed one.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cause::{Cause, Note};
use super::difference::{Comparison, Difference, compare};
use super::resent::Resent;
use crate::cache::{EntryState, Outcome, PromptCache, Refusal};
use crate::pricing::Category;
use crate::time::Instant;
use crate::wire::{NodeId, Request, Usage, Wire};

/// What a chain's previous request left behind for the explanation of the next.
#[derive(Clone, Debug)]
pub struct Previous {
    /// The request.
    pub request: Request,
    /// How many of its leading blocks its breakpoints covered, counting those that are long enough to be cached.
    pub covered: usize,
    /// How many its breakpoints covered, whatever their length.
    pub marked: usize,
}

impl Previous {
    /// The previous request and what its breakpoints covered. `minimum_tokens` and `cumulative` are its own.
    pub fn new(request: Request, cumulative: &[u64], minimum_tokens: u64) -> Self {
        let (marked, covered) = covered(&request, cumulative, minimum_tokens);
        Self { request, covered, marked }
    }
}

/// How many leading blocks the breakpoints cover: all of them, and those that are long enough to be cached.
fn covered(request: &Request, cumulative: &[u64], minimum_tokens: u64) -> (usize, usize) {
    let ends = request.markers.iter().filter_map(|marker| request.index_of(marker)).map(|at| at + 1);
    let (mut marked, mut effective) = (0, 0);
    for end in ends {
        marked = marked.max(end);
        if cumulative[end - 1] >= minimum_tokens {
            effective = effective.max(end);
        }
    }
    (marked, effective)
}

/// Everything that is known about a request when its bill is explained. The cache is as it was before the request.
#[derive(Clone, Copy)]
pub struct BilledRequest<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The request.
    pub request: &'a Request,
    /// Tokens of each of its prefixes.
    pub cumulative: &'a [u64],
    /// Shortest prefix that is cached, in tokens.
    pub minimum_tokens: u64,
    /// The usage to be explained.
    pub usage: &'a Usage,
    /// What the rules predict.
    pub predicted: &'a Outcome,
    /// Why the provider should have refused the request.
    pub refusal: Option<&'a Refusal>,
    /// The chain's previous request; `None` for its first.
    pub previous: Option<&'a Previous>,
    /// The cache before the request.
    pub cache: &'a dyn PromptCache,
    /// When the request was sent.
    pub at: Instant,
}

/// Missed tokens of one cause that were billed at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Why they were not read.
    pub cause: Cause,
    /// What they were billed as instead of reads.
    pub billed_as: Category,
    /// How many.
    pub tokens: u64,
}

/// The account of one request's input tokens. The four parts add up to the whole prompt.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Tokens read.
    pub read_tokens: u64,
    /// Tokens that had not been sent before.
    pub new_tokens: u64,
    /// Tokens that had been sent before and were not read, in the order of the causes.
    pub missed: Vec<Missed>,
    /// Differences of content to the chain's previous request, in prompt order.
    pub differences: Vec<Difference>,
    /// Harmless findings.
    pub notes: Vec<Note>,
}

impl Explanation {
    /// All missed tokens.
    pub fn missed_tokens(&self) -> u64 {
        self.missed.iter().map(|missed| missed.tokens).sum()
    }
}

/// Accounts for the input of a request.
pub fn explain(case: &BilledRequest<'_>) -> Explanation {
    let comparison = case.previous.map(|previous| compare(case.wire, &previous.request, case.request));
    let coverage = Coverage::of(case);
    let mut account =
        Account { case, comparison: comparison.as_ref(), coverage, missed: BTreeMap::new(), new_tokens: 0 };
    account.blocks();
    let (missed, mut new_tokens) = (account.missed, account.new_tokens);
    let read_tokens = case.usage.cache_read_input_tokens;
    let missed_tokens: u64 = missed.values().sum();
    // What lies behind the last block (the closing frame) belongs to no block and is new each time.
    new_tokens = case.usage.total_input_tokens().saturating_sub(read_tokens + missed_tokens).max(new_tokens);
    let mut notes = Vec::new();
    if read_tokens > known_tokens(case) {
        notes.push(Note::ReadAhead);
    }
    let differences = comparison.map_or_else(Vec::new, |comparison| comparison.differences);
    if case.previous.is_some_and(|previous| differences.iter().any(|found| is_behind(found, previous))) {
        notes.push(Note::TailOnly);
    }
    let missed = missed.into_iter().map(|((cause, billed_as), tokens)| Missed { cause, billed_as, tokens }).collect();
    Explanation { read_tokens, new_tokens, missed, differences, notes }
}

/// The change lies behind everything that the previous request could leave in the cache.
fn is_behind(difference: &Difference, previous: &Previous) -> bool {
    difference.cause != Cause::ModelChanged && difference.old_index >= previous.covered
}

/// Tokens of the longest prefix that an earlier request of the scope had.
fn known_tokens(case: &BilledRequest<'_>) -> u64 {
    case.request.known.checked_sub(1).and_then(|last| case.cumulative.get(last)).copied().unwrap_or(0)
}

/// How far the request's own breakpoints reach, and what the cache holds behind each block.
struct Coverage {
    marked: usize,
    effective: usize,
    /// How many leading blocks an own breakpoint covers that earlier requests could have written, were it not too short.
    too_short: usize,
    /// How many leading blocks of the chain's previous request an entry covers that can be read.
    previous_live: usize,
    /// For each unread block the causes that the entries at or behind it speak for; `None` where there is no entry.
    held: Vec<Option<Cause>>,
}

impl Coverage {
    fn of(case: &BilledRequest<'_>) -> Self {
        let (marked, effective) = covered(case.request, case.cumulative, case.minimum_tokens);
        let mut held = vec![None; case.request.nodes.len()];
        let hit = case.predicted.hit.map_or(0, |hit| case.wire.prefixes.depth(hit) as usize);
        let mut worst: Option<Cause> = None;
        let read = case.usage.cache_read_input_tokens;
        let unread = first_unread(case.cumulative, read);
        // Entries behind the last breakpoint cannot be read, prefixes nobody sent before hold none, and of what was read
        // nobody asks why it was not.
        for at in (unread..effective.min(case.request.known)).rev() {
            let node = case.request.nodes[at];
            let speaks = match case.cache.state(&case.wire.prefixes, node, case.at) {
                EntryState::Expired => Some(Cause::Expired),
                EntryState::InFlight => Some(Cause::InFlight),
                EntryState::Evicted => Some(Cause::Evicted),
                EntryState::Live if at + 1 > hit => Some(Cause::BeyondLookback),
                EntryState::Live => Some(Cause::Unexplained),
                EntryState::Absent => None,
            };
            worst = worst.into_iter().chain(speaks).min();
            held[at] = worst;
        }
        let (too_short, previous_live) = (too_short(case), previous_live(case));
        Self { marked, effective, too_short, previous_live, held }
    }
}

/// The first block that ends behind the `read` tokens. A longer prefix never has fewer, so what was read need not be walked.
fn first_unread(cumulative: &[u64], read: u64) -> usize {
    cumulative.partition_point(|tokens| *tokens <= read)
}

fn too_short(case: &BilledRequest<'_>) -> usize {
    let ends = case.request.markers.iter().filter_map(|marker| case.request.index_of(marker));
    let short = ends.filter(|at| *at < case.request.known && case.cumulative[*at] < case.minimum_tokens);
    short.max().map_or(0, |at| at + 1)
}

fn previous_live(case: &BilledRequest<'_>) -> usize {
    let Some(previous) = case.previous else { return 0 };
    let live = |node: &NodeId| case.cache.state(&case.wire.prefixes, *node, case.at) == EntryState::Live;
    previous.request.nodes[..previous.covered].iter().rposition(live).map_or(0, |at| at + 1)
}

struct Account<'a> {
    case: &'a BilledRequest<'a>,
    comparison: Option<&'a Comparison>,
    coverage: Coverage,
    missed: BTreeMap<(Cause, Category), u64>,
    new_tokens: u64,
}

impl Account<'_> {
    /// Accounts for each unread block. Neighbours that miss for one reason are booked together: siblings of a wide fan-out
    /// miss thousands of blocks for one.
    fn blocks(&mut self) {
        let read = self.case.usage.cache_read_input_tokens;
        let unread = first_unread(self.case.cumulative, read);
        let mut start = unread.checked_sub(1).map_or(0, |before| self.case.cumulative[before]);
        let mut stretch: Option<(Cause, Range<u64>)> = None;
        for (at, end) in self.case.cumulative.iter().copied().enumerate().skip(unread) {
            let begin = start;
            let from = begin.max(read);
            start = end;
            if from >= end {
                continue;
            }
            let Some(cause) = self.cause(at) else {
                self.new_tokens += end - from;
                continue;
            };
            // Of a changed block, what differs is new; it is taken to stand at its end.
            let missed_tokens = self.sent_before(at, end - begin).min(end - from);
            self.new_tokens += end - from - missed_tokens;
            match &mut stretch {
                Some((known, tokens)) if *known == cause && tokens.end == from => tokens.end += missed_tokens,
                _ => {
                    self.miss(stretch.as_ref());
                    stretch = Some((cause, from..from + missed_tokens));
                }
            }
        }
        self.miss(stretch.as_ref());
    }

    /// How many of the block's `tokens` were sent before.
    fn sent_before(&self, at: usize, tokens: u64) -> u64 {
        if at < self.case.request.known {
            return tokens;
        }
        self.resent(at).map_or(0, |resent| resent.tokens(tokens))
    }

    fn resent(&self, at: usize) -> Option<Resent> {
        self.comparison.and_then(|comparison| comparison.resent.get(at))
    }

    /// Books a stretch of the prompt's tokens as missed, at what they were billed as: behind the read lie
    /// the one-hour writes, then the five-minute writes, then plain input (prompt-caching page, mixed TTLs, 2026-09).
    fn miss(&mut self, stretch: Option<&(Cause, Range<u64>)>) {
        let Some((cause, tokens)) = stretch else { return };
        let from = tokens.start;
        let end = tokens.end;
        let usage = self.case.usage;
        let one_hour = usage.cache_read_input_tokens + usage.ephemeral_1h_input_tokens;
        let five_minutes = one_hour + usage.ephemeral_5m_input_tokens;
        let stretches = [
            (Category::Write1h, from, end.min(one_hour)),
            (Category::Write5m, from.max(one_hour), end.min(five_minutes)),
            (Category::Input, from.max(five_minutes), end),
        ];
        for (billed_as, from, end) in stretches {
            if from < end {
                *self.missed.entry((*cause, billed_as)).or_default() += end - from;
            }
        }
    }

    /// The cause of one unread block; `None` where it had not been sent before.
    fn cause(&self, at: usize) -> Option<Cause> {
        let request = self.case.request;
        let partner = self.resent(at).map(|resent| resent.old);
        let prefix_known = at < request.known;
        if !prefix_known && partner.is_none() {
            return None;
        }
        Some(self.cause_of_sent(at, partner, prefix_known))
    }

    fn cause_of_sent(&self, at: usize, partner: Option<usize>, prefix_known: bool) -> Cause {
        if !prefix_known && self.first_difference_is_model() {
            return Cause::ModelChanged;
        }
        match self.case.refusal {
            Some(Refusal::TooManyBreakpoints { .. }) => return Cause::BreakpointLimit,
            Some(Refusal::TtlOrder { .. }) => return Cause::TtlOrder,
            _ => {}
        }
        if let Some(cause) = self.uncovered(at, partner) {
            return cause;
        }
        if let Some(cause) = self.content(at, partner) {
            return cause;
        }
        if !prefix_known && self.other_root() {
            return Cause::OtherScope;
        }
        match self.coverage.held[at] {
            Some(Cause::Unexplained) if self.case.previous.is_none() => Cause::FirstRequest,
            Some(cause) => cause,
            // Sent before, and nothing was ever written at or behind it.
            None if at < self.coverage.too_short => Cause::BelowMinimum,
            None => Cause::NoBreakpoint,
        }
    }

    fn first_difference_is_model(&self) -> bool {
        self.comparison
            .and_then(|comparison| comparison.differences.first())
            .is_some_and(|difference| difference.cause == Cause::ModelChanged)
    }

    fn other_root(&self) -> bool {
        self.case.previous.is_some_and(|previous| previous.request.root != self.case.request.root)
    }

    /// No breakpoint that counts covers the block, in this request or in the one before.
    fn uncovered(&self, at: usize, partner: Option<usize>) -> Option<Cause> {
        if at >= self.coverage.effective {
            let is_marked = at < self.coverage.marked;
            return match is_marked {
                true if self.went_below_the_minimum(partner) => None,
                true => Some(Cause::BelowMinimum),
                false => Some(Cause::NoBreakpoint),
            };
        }
        let (previous, partner) = (self.case.previous?, partner?);
        // Another request of the scope may have written what the previous one did not.
        if partner < previous.covered || self.coverage.held[at].is_some() {
            return None;
        }
        Some(if partner < previous.marked { Cause::BelowMinimum } else { Cause::NoBreakpoint })
    }

    /// The previous request had the block in the cache, where it can still be read; a change made the prompt too short for
    /// that. With the changed bytes put back it would be read (`design.md` 6).
    fn went_below_the_minimum(&self, partner: Option<usize>) -> bool {
        partner.is_some_and(|partner| partner < self.coverage.previous_live) && self.first_change().is_some()
    }

    /// The first change within what the previous request had in the cache.
    fn first_change(&self) -> Option<&Difference> {
        let previous = self.case.previous?;
        self.comparison?.differences.iter().find(|found| !is_behind(found, previous))
    }

    /// The first change of content within what the previous request had in the cache.
    fn content(&self, at: usize, partner: Option<usize>) -> Option<Cause> {
        let partner = partner?;
        let first = self.first_change()?;
        // Before the change an entry of the same prefix stands, and like all entries behind it that the previous request
        // left it cannot be read: without the change the block would be missed as well.
        let dead = matches!(self.coverage.held[at], Some(Cause::Expired | Cause::InFlight | Cause::Evicted));
        let blameless = at < first.new_index && dead && partner >= self.coverage.previous_live;
        (!blameless).then_some(first.cause)
    }
}
