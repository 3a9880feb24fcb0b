//! One request compared with the contents of its cache: the facts in every output of `explain`.

use forkcast_replay::replay::inspect::{Breakpoint, HeldEntry as Held, Inspection};
use forkcast_sim::cache::EntryState;
use forkcast_sim::diagnosis::{Circumstances, Comparison, compare};
use forkcast_sim::wire::{BlockKind, Level, NodeId};
use forkcast_sim::words;

use crate::comparison::Sides;
use crate::report::{Recorded, Report};

/// A request with its line of the ledger and the contents of its cache.
pub struct Explained<'a> {
    /// The whole replay.
    pub report: &'a Report<'a>,
    /// The request's line.
    pub entry: &'a Recorded<'a>,
    /// All requests.
    entries: &'a [Recorded<'a>],
    /// The contents of the cache when it was sent.
    pub inspection: &'a Inspection,
    /// The request compared with the writer of the nearest entry.
    comparison: Option<Comparison>,
}

/// The content of a request at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelHeld {
    /// The level.
    pub level: Level,
    /// Its blocks, parameters not counted.
    pub blocks: usize,
    /// Their tokens, parameters included.
    pub tokens: u64,
    /// Blocks within a prefix that an earlier request of this model and scope had.
    pub sent_before: usize,
}

words! {
    /// Why nothing longer was read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Stop: word {
        /// The provider refuses the request.
        Refused = "refused",
        /// The request has no breakpoint, so nothing was looked up.
        NoBreakpoint = "no_breakpoint",
        /// All breakpoints are on prefixes that are too short to be cached.
        BelowMinimum = "below_minimum",
        /// Everything that was sent before as a prefix was read.
        NewFromHere = "new_from_here",
        /// The longer entry outlived its lifetime.
        Expired = "expired",
        /// The answer of the longer entry's writer had not begun.
        InFlight = "in_flight",
        /// The longer entry was lost before the end of its lifetime.
        Evicted = "evicted",
        /// The longer entry can be read, but no breakpoint looks back as far.
        BeyondLookback = "beyond_lookback",
        /// There was no write at a longer prefix.
        NeverWritten = "never_written",
    }
}

impl<'a> Explained<'a> {
    /// Combines a line of a report, one of `entries`, with its inspection.
    pub fn new(
        report: &'a Report<'a>,
        entries: &'a [Recorded<'a>],
        entry: &'a Recorded<'a>,
        inspection: &'a Inspection,
    ) -> Self {
        let newer = &inspection.subject.request;
        let comparison =
            inspection.nearest.as_ref().map(|nearest| compare(&inspection.wire, &nearest.writer.request, newer));
        Self { report, entry, entries, inspection, comparison }
    }

    /// The content of the request, level by level; levels without blocks are left out.
    pub fn levels(&self) -> Vec<LevelHeld> {
        [Level::Tools, Level::System, Level::Messages].map(|level| self.level(level)).into_iter().flatten().collect()
    }

    fn level(&self, level: Level) -> Option<LevelHeld> {
        let request = &self.inspection.subject.request;
        let of_level = |at: &usize| request.places[*at].level == level;
        let blocks: Vec<usize> = (0..request.nodes.len()).filter(of_level).collect();
        let (first, last) = (blocks.first()?, blocks.last()?);
        let is_block = |at: &usize| self.inspection.wire.prefixes.kind(request.nodes[*at]) != BlockKind::Parameters;
        let counted = blocks.iter().filter(|at| is_block(at));
        Some(LevelHeld {
            level,
            blocks: counted.clone().count(),
            tokens: self.tokens_through(*last) - first.checked_sub(1).map_or(0, |before| self.tokens_through(before)),
            sent_before: counted.filter(|at| **at < request.known).count(),
        })
        .filter(|held| held.blocks > 0)
    }

    /// Tokens of the prefix that ends with block `at`.
    pub fn tokens_through(&self, at: usize) -> u64 {
        self.inspection.subject.cumulative.get(at).copied().unwrap_or(0)
    }

    /// The path of a block in the body.
    pub fn path(&self, at: usize) -> String {
        self.inspection.subject.request.places.get(at).map(ToString::to_string).unwrap_or_default()
    }

    /// How many leading blocks the rules expect to be read.
    pub fn read_blocks(&self) -> usize {
        self.inspection.predicted.hit.map_or(0, |hit| self.blocks_to(hit))
    }

    fn blocks_to(&self, node: NodeId) -> usize {
        self.inspection.subject.request.nodes.iter().rposition(|known| *known == node).map_or(0, |at| at + 1)
    }

    /// Why nothing longer is expected to be read.
    pub fn stop(&self) -> Stop {
        let inspection = self.inspection;
        if inspection.subject.refusal.is_some() {
            return Stop::Refused;
        }
        if inspection.breakpoints.is_empty() {
            return Stop::NoBreakpoint;
        }
        if !inspection.breakpoints.iter().any(|breakpoint| breakpoint.effective) {
            return Stop::BelowMinimum;
        }
        let read = self.read_blocks();
        if read >= inspection.sent_before() {
            return Stop::NewFromHere;
        }
        match self.missed_entry().map(|entry| entry.state) {
            Some(EntryState::Expired) => Stop::Expired,
            Some(EntryState::InFlight) => Stop::InFlight,
            Some(EntryState::Evicted) => Stop::Evicted,
            Some(EntryState::Live) => Stop::BeyondLookback,
            Some(EntryState::Absent) | None => Stop::NeverWritten,
        }
    }

    /// The longest entry that is a prefix of the request and longer than the expected read.
    pub fn missed_entry(&self) -> Option<&Held> {
        let read = self.read_blocks();
        let longer = self.inspection.entries.iter();
        longer
            .filter(|entry| entry.shared_blocks == entry.blocks && entry.blocks > read)
            .max_by_key(|entry| entry.blocks)
    }

    /// The first block that no earlier request had at this position.
    pub fn first_new(&self) -> Option<usize> {
        let known = self.inspection.sent_before();
        (known < self.inspection.subject.request.nodes.len()).then_some(known)
    }

    /// Entries by their state.
    pub fn counts(&self) -> [(EntryState, usize); 4] {
        let count = |state| self.inspection.entries.iter().filter(|entry| entry.state == state).count();
        [EntryState::Live, EntryState::InFlight, EntryState::Expired, EntryState::Evicted]
            .map(|state| (state, count(state)))
    }

    /// The request compared with the writer of the nearest entry, if that entry is not a prefix of it.
    pub fn sides(&'a self) -> Option<Sides<'a>> {
        let nearest = self.inspection.nearest.as_ref()?;
        if nearest.entry.shared_blocks == nearest.entry.blocks {
            return None;
        }
        Some(Sides {
            wire: &self.inspection.wire,
            rules: &self.inspection.rules,
            older: &nearest.writer,
            newer: &self.inspection.subject,
            are_measured: self.entry.line.recorded.is_some(),
            comparison: self.comparison.as_ref()?,
            spelling: &[],
            circumstances: Circumstances::default(),
            rates: None,
            prices: String::new(),
            titles: ["", ""],
            origin: (None, None),
            names: self.report.names,
        })
    }

    /// The name for users of the request of a ledger line.
    pub fn name_of(&self, line: usize) -> String {
        let entry = self.entries.iter().find(|entry| entry.line.index == line);
        entry.map_or_else(|| format!("request {line}"), |entry| self.report.spot(&entry.into()))
    }

    /// Milliseconds from the request of a ledger line to this one, if both have recorded instants.
    pub fn ms_since(&self, line: usize) -> Option<u64> {
        let then = self.entries.iter().find(|entry| entry.line.index == line)?.line.at?;
        self.entry.line.at.map(|now| now.since(then).as_millis())
    }
}

/// The possible states of a prefix in a cache.
pub const STATES: [EntryState; 5] =
    [EntryState::Absent, EntryState::Live, EntryState::Expired, EntryState::Evicted, EntryState::InFlight];

/// The word for the state of an entry.
pub const fn state_word(state: EntryState) -> &'static str {
    match state {
        EntryState::Absent => "absent",
        EntryState::Live => "live",
        EntryState::Expired => "expired",
        EntryState::Evicted => "evicted",
        EntryState::InFlight => "in_flight",
    }
}

/// Whether a breakpoint's look-back met a readable entry that is shorter than its own prefix.
pub fn found_shorter(breakpoint: &Breakpoint) -> bool {
    breakpoint.found.is_some_and(|found| found < breakpoint.index)
}
