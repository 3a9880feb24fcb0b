//! Read, new or missed: accounts for every input token of a request and names one cause for each missed one.

use std::collections::BTreeMap;
use std::ops::Range;

use super::blame::Blame;
use super::cause::{Cause, Note};
use super::coverage::Coverage;
use super::difference::{Comparison, Difference, compare};
use super::resent::Resent;
use super::subject::Subject;
use crate::cache::{Outcome, PromptCache, Refusal};
use crate::pricing::Category;
use crate::time::Instant;
use crate::wire::{Usage, Wire};

/// Everything that is known about a request when its bill is explained, with the cache in its state before the request.
#[derive(Clone, Copy)]
pub struct BilledRequest<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The request, with its sizes in tokens of the bill.
    pub request: &'a Subject,
    /// The usage to be explained.
    pub usage: &'a Usage,
    /// What the rules predict.
    pub predicted: &'a Outcome,
    /// The chain's previous request; `None` for its first.
    pub previous: Option<&'a Subject>,
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
    /// Number of tokens.
    pub tokens: u64,
}

impl Missed {
    /// A stretch of a prompt's tokens at the prices at which they were billed: one-hour writes follow the read tokens, then
    /// five-minute writes, then plain input (prompt-caching page, mixed TTLs, 2026-09).
    pub fn of_stretch(cause: Cause, tokens: &Range<u64>, usage: &Usage) -> impl Iterator<Item = Self> + use<> {
        let Range { start, end } = *tokens;
        let one_hour = usage.cache_read_input_tokens + usage.ephemeral_1h_input_tokens;
        let five_minutes = one_hour + usage.ephemeral_5m_input_tokens;
        let parts = [
            (Category::Write1h, start, end.min(one_hour)),
            (Category::Write5m, start.max(one_hour), end.min(five_minutes)),
            (Category::Input, start.max(five_minutes), end),
        ];
        let billed = parts.into_iter().filter(|(_, start, end)| start < end);
        billed.map(move |(billed_as, start, end)| Self { cause, billed_as, tokens: end - start })
    }
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
    let comparison = case.previous.map(|previous| compare(case.wire, &previous.request, &case.request.request));
    // Token counts never fall along a prompt, so the part that was read need not be walked.
    let unread = case.request.blocks_within(case.usage.cache_read_input_tokens);
    let differs = comparison.as_ref().is_some_and(|comparison| !comparison.differences.is_empty());
    let mut account = Account {
        case,
        comparison: comparison.as_ref(),
        coverage: Coverage::of(case, unread, differs),
        blame: Blame::of(case, comparison.as_ref(), unread),
        missed: BTreeMap::new(),
        new_tokens: 0,
    };
    account.blocks(unread);
    let (missed, mut new_tokens) = (account.missed, account.new_tokens);
    let read_tokens = case.usage.cache_read_input_tokens;
    let missed_tokens: u64 = missed.values().sum();
    // The closing frame after the last block belongs to no block and is new each time.
    new_tokens = case.usage.total_input_tokens().saturating_sub(read_tokens + missed_tokens).max(new_tokens);
    let mut notes = Vec::new();
    if read_tokens > known_tokens(case) {
        notes.push(Note::ReadAhead);
    }
    let differences = comparison.map_or_else(Vec::new, |comparison| comparison.differences);
    let covered = case.previous.map_or(0, Subject::covered);
    if differences.iter().any(|found| is_behind(found, covered)) {
        notes.push(Note::TailOnly);
    }
    let missed = missed.into_iter().map(|((cause, billed_as), tokens)| Missed { cause, billed_as, tokens }).collect();
    Explanation { read_tokens, new_tokens, missed, differences, notes }
}

/// The change comes after everything that the previous request could leave in the cache.
fn is_behind(difference: &Difference, covered: usize) -> bool {
    difference.cause != Cause::ModelChanged && difference.old_index >= covered
}

/// Tokens of the longest prefix that an earlier request of the scope sent.
fn known_tokens(case: &BilledRequest<'_>) -> u64 {
    let Subject { request, cumulative, .. } = case.request;
    request.known.checked_sub(1).and_then(|last| cumulative.get(last)).copied().unwrap_or(0)
}

struct Account<'a> {
    case: &'a BilledRequest<'a>,
    comparison: Option<&'a Comparison>,
    coverage: Coverage,
    blame: Blame,
    missed: BTreeMap<(Cause, Category), u64>,
    new_tokens: u64,
}

impl Account<'_> {
    /// Accounts for the unread blocks, run by run. Consecutive blocks missed for one reason are booked together:
    /// siblings of a wide fan-out miss thousands of blocks for one reason.
    fn blocks(&mut self, unread: usize) {
        let cumulative = &self.case.request.cumulative;
        let read = self.case.usage.cache_read_input_tokens;
        let mut stretch: Option<(Cause, Range<u64>)> = None;
        let mut at = unread;
        while at < cumulative.len() {
            let run_end = self.run_end(at);
            let begin = at.checked_sub(1).map_or(0, |before| cumulative[before]);
            let run = begin..cumulative[run_end - 1];
            self.run(at, &run, run.start.max(read), &mut stretch);
            at = run_end;
        }
        self.miss(stretch.as_ref());
    }

    /// The end of the longest run of blocks from `at` on that were missed for one reason or none, and that the previous
    /// request did not have; the run is the block at `at` alone if it is none of these.
    fn run_end(&self, at: usize) -> usize {
        let len = self.case.request.cumulative.len();
        let alone = self.comparison.map_or(len, |comparison| comparison.resent.alone_until(at));
        let blamed = self.blame.next(at).unwrap_or(len);
        let known = Some(self.case.request.request.known).filter(|known| *known > at);
        let edges = known.into_iter().chain(self.coverage.edge_behind(at));
        edges.fold(len.min(alone).min(blamed), usize::min).max(at + 1)
    }

    /// Accounts for a run of blocks that begins with the one at `at`; its tokens are unread from `from` on.
    fn run(&mut self, at: usize, run: &Range<u64>, from: u64, stretch: &mut Option<(Cause, Range<u64>)>) {
        let end = run.end;
        if from >= end {
            return;
        }
        let Some(cause) = self.cause(at) else {
            self.new_tokens += end - from;
            return;
        };
        // Only the difference in a changed block is new; it is counted at the end of the block.
        let missed_tokens = self.sent_before(at, end - run.start).min(end - from);
        self.new_tokens += end - from - missed_tokens;
        match stretch {
            Some((known, tokens)) if *known == cause && tokens.end == from => tokens.end += missed_tokens,
            _ => {
                self.miss(stretch.as_ref());
                *stretch = Some((cause, from..from + missed_tokens));
            }
        }
    }

    /// How many of the block's `tokens` were sent before.
    fn sent_before(&self, at: usize, tokens: u64) -> u64 {
        if at < self.case.request.request.known {
            return tokens;
        }
        self.resent(at).map_or(0, |resent| resent.tokens(tokens))
    }

    fn resent(&self, at: usize) -> Option<Resent> {
        self.comparison.and_then(|comparison| comparison.resent.get(at))
    }

    /// Books a stretch of the prompt's tokens as missed.
    fn miss(&mut self, stretch: Option<&(Cause, Range<u64>)>) {
        let Some((cause, tokens)) = stretch else { return };
        for Missed { cause, billed_as, tokens } in Missed::of_stretch(*cause, tokens, self.case.usage) {
            *self.missed.entry((cause, billed_as)).or_default() += tokens;
        }
    }

    /// The cause of one unread block; `None` if it was not sent before.
    fn cause(&self, at: usize) -> Option<Cause> {
        let request = &self.case.request.request;
        let partner = self.resent(at).map(|resent| resent.old);
        let prefix_known = at < request.known;
        if !prefix_known && partner.is_none() {
            return None;
        }
        Some(self.cause_of_sent(at, partner, prefix_known))
    }

    fn cause_of_sent(&self, at: usize, partner: Option<usize>, prefix_known: bool) -> Cause {
        let changed = self.blame.change(at);
        if changed == Some(Cause::ModelChanged) {
            return Cause::ModelChanged;
        }
        match self.case.request.refusal {
            Some(Refusal::TooManyBreakpoints { .. }) => return Cause::BreakpointLimit,
            Some(Refusal::TtlOrder { .. }) => return Cause::TtlOrder,
            _ => {}
        }
        if let Some(cause) = self.uncovered(at, partner, changed) {
            return cause;
        }
        if let Some(cause) = changed {
            return cause;
        }
        if !prefix_known && self.other_scope() {
            return Cause::OtherScope;
        }
        match self.coverage.held(at, partner) {
            Some(Cause::Unexplained) if self.case.previous.is_none() => Cause::FirstRequest,
            Some(cause) => cause,
            // Sent before, but never written at or after it.
            None if at < self.coverage.too_short => Cause::BelowMinimum,
            None => self.unmarked(at, changed),
        }
    }

    /// The cause of a block that no breakpoint covers. One alone would not have let it be read if what could be read up to it
    /// is too short (`design.md` 6: of causes that do not hold alone the first).
    fn unmarked(&self, at: usize, changed: Option<Cause>) -> Cause {
        let Subject { request, cumulative, minimum_tokens, .. } = self.case.request;
        let blocks = if at < request.known && changed.is_none() { request.known } else { cumulative.len() };
        let is_long_enough = blocks.checked_sub(1).is_some_and(|last| cumulative[last] >= *minimum_tokens);
        if is_long_enough { Cause::NoBreakpoint } else { Cause::BelowMinimum }
    }

    fn other_scope(&self) -> bool {
        let same_root =
            self.case.previous.is_none_or(|previous| previous.request.root == self.case.request.request.root);
        let first = self.comparison.and_then(|comparison| comparison.differences.first());
        !same_root && first.is_none_or(|difference| difference.cause != Cause::ModelChanged)
    }

    /// No breakpoint that counts covers the block, neither in this request nor in the previous one.
    fn uncovered(&self, at: usize, partner: Option<usize>, changed: Option<Cause>) -> Option<Cause> {
        if at >= self.coverage.effective {
            return match at < self.coverage.marked {
                // With the changed bytes put back the prompt would be long enough (`design.md` 6).
                true if changed.is_some() => None,
                true => Some(Cause::BelowMinimum),
                false => Some(self.unmarked(at, changed)),
            };
        }
        let partner = partner?;
        // Another request of the scope may have written what the previous one did not write.
        if partner < self.coverage.before.covered || self.coverage.own(at).is_some() {
            return None;
        }
        Some(if partner < self.coverage.before.marked { Cause::BelowMinimum } else { self.unmarked(at, changed) })
    }
}
