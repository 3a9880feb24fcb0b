//! Two requests side by side: findings with their price, and harmless notes.

use forkcast_sim::diagnosis::{self, Cause, Comparison, Difference, Note, first_difference};
use forkcast_sim::pricing::{Category, Money, Rates};
use forkcast_sim::wire::spelling::{SpellingKind, SpellingNote};
use forkcast_sim::wire::{BlockId, Request, Ttl, Wire, estimated_tokens};

use crate::document::Marked;
use crate::names::Names;

/// Everything that is known of two requests.
#[derive(Clone)]
pub struct Sides<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The older request.
    pub older: &'a Request,
    /// The newer request.
    pub newer: &'a Request,
    /// Their comparison.
    pub comparison: &'a Comparison,
    /// Harmless differences of their wire bytes.
    pub spelling: &'a [SpellingNote],
    /// The newer model's prices; `None` for a model without.
    pub rates: Option<&'a Rates>,
    /// Which prices these are, such as `list prices of 2026-11-21`.
    pub prices: String,
    /// What the user calls the older and the newer request.
    pub titles: [&'a str; 2],
    /// Chain and position of the newer request in its recording, where it comes from one.
    pub origin: (Option<&'a str>, Option<usize>),
    /// How names are shown.
    pub names: Names,
}

/// A difference and what it costs.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The difference.
    pub difference: &'a Difference,
    /// It lies in what the older request's breakpoints cover.
    pub breaks_prefix: bool,
    /// The stretch of canonical bytes that differs in the newer block.
    pub offset_range: Option<[u64; 2]>,
    /// Unchanged tokens behind it that the older request had cached: what it costs by itself. An estimate.
    pub tokens_lost: u64,
    /// What these are billed as instead of reads.
    pub billed_as: Category,
    /// How much more that costs.
    pub cost: Option<Money>,
    /// The bytes around the first difference, older and newer.
    pub windows: Option<[Marked; 2]>,
}

/// A harmless difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harmless<'a> {
    /// What it is.
    pub note: Note,
    /// Where.
    pub path: &'a str,
}

impl<'a> Sides<'a> {
    /// All findings in prompt order.
    pub fn findings(&self) -> Vec<Finding<'a>> {
        let old = diagnosis::blocks(self.older, &self.wire.prefixes);
        let new = diagnosis::blocks(self.newer, &self.wire.prefixes);
        let covered = self.covered();
        self.comparison.differences.iter().map(|found| self.finding(found, covered, &old, &new)).collect()
    }

    /// Harmless differences: of spelling, and changes behind all breakpoints.
    pub fn notes(&self) -> Vec<Harmless<'a>> {
        let covered = self.covered();
        let behind = self.comparison.differences.iter().filter(|found| covered > 0 && !breaks(found, covered));
        let tail = behind.map(|found| Harmless { note: Note::TailOnly, path: &found.path });
        let spelling = self.spelling.iter().map(|found| Harmless { note: word(found.kind), path: &found.path });
        spelling.chain(tail).collect()
    }

    /// How many leading blocks of the older request its breakpoints cover.
    pub fn covered(&self) -> usize {
        let index =
            |marker: &forkcast_sim::wire::Marker| self.older.nodes.iter().rposition(|node| *node == marker.node);
        self.older.markers.iter().filter_map(index).map(|at| at + 1).max().unwrap_or(0)
    }

    fn finding(&self, found: &'a Difference, covered: usize, old: &[BlockId], new: &[BlockId]) -> Finding<'a> {
        let breaks_prefix = breaks(found, covered);
        let tokens_lost = if breaks_prefix { self.tokens_behind(found.new_index, covered, new) } else { 0 };
        let billed_as = self.billed_as(found.new_index);
        let bytes = |block: Option<&BlockId>| block.map_or(&[][..], |block| self.wire.blocks.bytes(*block));
        // What came in or went away is shown beside what stood at its place.
        let there = [bytes(old.get(found.old_index)), bytes(new.get(found.new_index))];
        let offset = first_difference(there[0], there[1]);
        Finding {
            difference: found,
            breaks_prefix,
            offset_range: (found.offset_in_block.is_some() && found.old.is_some() && found.new.is_some())
                .then(|| range(there[0], there[1], offset)),
            tokens_lost,
            billed_as,
            cost: self.rates.map(|rates| rates.difference(billed_as, Category::Read, tokens_lost)),
            windows: (found.cause != Cause::ModelChanged)
                .then(|| there.map(|bytes| diagnosis::window(bytes, offset).into())),
        }
    }

    /// Tokens of the blocks from `from` on that the older request had within its breakpoints.
    fn tokens_behind(&self, from: usize, covered: usize, new: &[BlockId]) -> u64 {
        let behind = new.iter().zip(&self.comparison.alignment.partner).skip(from);
        let sent_before = behind.filter(|(_, partner)| partner.is_some_and(|old| old < covered));
        sent_before.map(|(block, _)| estimated_tokens(&self.wire.blocks, *block)).sum()
    }

    /// What tokens behind block `from` are billed as: written where a breakpoint of the newer request follows.
    fn billed_as(&self, from: usize) -> Category {
        let follows = |marker: &&forkcast_sim::wire::Marker| {
            self.newer.nodes.iter().rposition(|node| *node == marker.node).is_some_and(|at| at >= from)
        };
        match self.newer.markers.iter().find(follows).map(|marker| marker.ttl) {
            Some(Ttl::FiveMinutes) => Category::Write5m,
            Some(Ttl::OneHour) => Category::Write1h,
            None => Category::Input,
        }
    }
}

fn breaks(found: &Difference, covered: usize) -> bool {
    covered > 0 && (found.cause == Cause::ModelChanged || found.old_index < covered)
}

/// The stretch of `new` that is not in `old`: from the first difference to where both go on alike to the end.
fn range(old: &[u8], new: &[u8], offset: usize) -> [u64; 2] {
    let rest = |bytes: &[u8]| bytes.len().saturating_sub(offset);
    let alike =
        old.iter().rev().zip(new.iter().rev()).take(rest(old).min(rest(new))).take_while(|(old, new)| old == new);
    [offset as u64, (new.len() - alike.count()) as u64]
}

const fn word(kind: SpellingKind) -> Note {
    match kind {
        SpellingKind::Spelling => Note::Spelling,
        SpellingKind::Whitespace => Note::Whitespace,
        SpellingKind::Escape => Note::Escape,
        SpellingKind::MarkerMoved => Note::MarkerMoved,
        SpellingKind::Envelope => Note::Envelope,
    }
}

/// A note in a sentence.
pub const fn sentence(note: Note) -> &'static str {
    match note {
        Note::Spelling => {
            "another spelling of the same: a string or a list, a default written out, keys in another order"
        }
        Note::Whitespace => "white space between tokens",
        Note::Escape => "another escape for the same character",
        Note::MarkerMoved => "a breakpoint stands elsewhere or has another lifetime",
        Note::Envelope => "a field of the request that is not prompt",
        Note::TailOnly => "changed behind the last breakpoint of the older request",
        Note::ReadAhead => "more was read than any visible request had sent",
    }
}
