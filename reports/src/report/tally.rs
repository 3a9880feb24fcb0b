//! Counts over all requests besides the sums.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::transcript::DiagnosisKind;
use forkcast_sim::diagnosis::{Cause, THINKING_AT};
use forkcast_sim::pricing::Money;
use forkcast_sim::service::REFUSED;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Usage;

use super::{Counted, Recorded};

/// Counts and sets over the requests of a report.
#[derive(Debug, Default)]
pub struct Tally {
    /// Requests that count.
    pub requests: u64,
    /// Those from transcripts.
    pub from_transcripts: u64,
    /// Those with recorded usage.
    pub recorded: u64,
    /// Those in the sums.
    pub counted: u64,
    /// Whether one that enters no sum was predicted.
    pub predicted_uncounted: bool,
    /// Whether one could be explained.
    pub explained: bool,
    /// Requests with a cost that was not recorded.
    pub unmetered: u64,
    /// Counted requests to providers without a cache model.
    pub not_modelled: u64,
    /// Requests without usage that the provider would refuse: nothing of them is predicted.
    pub refused: u64,
    /// Requests without usage that send thinking after other content than it was made after.
    pub unbound_thinking: u64,
    /// Whether one of these wrote to a cache.
    pub foreign_writes: bool,
    /// First and last instant.
    pub span: Option<(Instant, Instant)>,
    /// Models without a price: requests with usage, and their tokens.
    pub(super) unpriced: BTreeMap<String, (u64, u64)>,
    /// Remarks, and how many requests have each.
    pub(super) remarks: BTreeMap<String, u64>,
    /// Models as spelled.
    pub(super) models: BTreeSet<String>,
    /// The provider's own word and our cause of the largest part of a miss: requests, tokens, money.
    pub diagnosed: BTreeMap<(DiagnosisKind, Cause), (u64, u64, Option<Money>)>,
    /// Sessions in which an agent's next request came after five minutes to an hour: lifetimes matter there.
    pub(super) waits: BTreeSet<usize>,
    /// The last request of each agent of the part.
    last: BTreeMap<(usize, Option<u32>), Instant>,
}

impl Tally {
    /// Counts a request. Returns the pause of its agent before it, if known.
    pub(super) fn take(&mut self, entry: &Recorded<'_>, counted: Counted) -> Option<Duration> {
        let line = &entry.line;
        self.requests += 1;
        self.from_transcripts += u64::from(entry.answered.is_some());
        self.recorded += u64::from(line.recorded.is_some());
        self.explained |= line.explanation.is_some();
        let remarked = |start: &str| {
            u64::from(line.recorded.is_none() && line.remarks.iter().any(|remark| remark.starts_with(start)))
        };
        self.refused += remarked(REFUSED);
        self.unbound_thinking += remarked(THINKING_AT);
        self.unmetered += u64::from(is_unmetered(entry));
        if counted.counts(entry) {
            self.counted += 1;
            self.not_modelled += u64::from(entry.is_foreign());
        } else {
            self.predicted_uncounted |= line.predicted.is_some();
        }
        let written = line.billed().is_some_and(|usage| usage.cache_creation_input_tokens() > 0);
        self.foreign_writes |= written && entry.is_foreign();
        self.names(entry);
        self.diagnosis(entry);
        self.instant(entry, line.at?)
    }

    /// Each session is in one part.
    pub(super) fn end_part(&mut self) {
        self.last.clear();
    }

    fn names(&mut self, entry: &Recorded<'_>) {
        let line = &entry.line;
        if !self.models.contains(&line.model) {
            self.models.insert(line.model.clone());
        }
        if let Some(usage) = line.billed().filter(|_| line.charge.bill.is_none()) {
            let sums = self.unpriced.entry(line.model.clone()).or_default();
            sums.0 += 1;
            sums.1 = sums.1.saturating_add(usage.total_input_tokens()).saturating_add(usage.output_tokens);
        }
        for remark in &line.remarks {
            match self.remarks.get_mut(remark) {
                Some(count) => *count += 1,
                None => drop(self.remarks.insert(remark.clone(), 1)),
            }
        }
    }

    fn diagnosis(&mut self, entry: &Recorded<'_>) {
        let diagnosis = entry.answered.and_then(|answered| answered.answer.diagnosis);
        let largest = entry.line.charge.causes.iter().max_by_key(|part| part.tokens);
        if let Some((diagnosis, part)) = diagnosis.zip(largest) {
            let sum = self.diagnosed.entry((diagnosis.kind, part.cause)).or_default();
            sum.0 += 1;
            sum.1 += part.tokens;
            sum.2 = part.cost.map(|cost| sum.2.unwrap_or_default() + cost).or(sum.2);
        }
    }

    fn instant(&mut self, entry: &Recorded<'_>, at: Instant) -> Option<Duration> {
        const PAUSE: std::ops::RangeInclusive<u64> = 300_000..=3_600_000;
        let (from, to) = self.span.unwrap_or((at, at));
        self.span = Some((from.min(at), to.max(at)));
        let line = &entry.line;
        let before = self.last.insert((line.session, line.chain.map(|chain| chain.0)), at);
        let pause = before.map(|before| at.since(before));
        if pause.is_some_and(|pause| PAUSE.contains(&pause.as_millis())) {
            self.waits.insert(line.session);
        }
        pause
    }
}

/// Whether the request had a cost that was not recorded: it has no usage, and it was not refused.
fn is_unmetered(entry: &Recorded<'_>) -> bool {
    let refused = entry.failed() || entry.line.predicted == Some(Usage::default());
    entry.line.recorded.is_none() && !refused
}
