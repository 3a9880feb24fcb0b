//! Two requests side by side: findings with their price, and harmless notes.

use forkcast_sim::cache::Rules;
use forkcast_sim::diagnosis::{Circumstances, Comparison, Note, Subject};
use forkcast_sim::guard::{Judged, NoteKind, judge_pair};
use forkcast_sim::pricing::Rates;
use forkcast_sim::wire::Wire;
use forkcast_sim::wire::spelling::SpellingNote;

use crate::names::Names;

/// All data of the comparison of two requests.
#[derive(Clone)]
pub struct Sides<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The provider's cache rules.
    pub rules: &'a Rules,
    /// The older request.
    pub older: &'a Subject,
    /// The newer request.
    pub newer: &'a Subject,
    /// Their sizes are recorded or declared, not estimated.
    pub are_measured: bool,
    /// Their comparison.
    pub comparison: &'a Comparison,
    /// Harmless differences of their wire bytes.
    pub spelling: &'a [SpellingNote],
    /// What decides the outcome of thinking in the newer request besides its body.
    pub circumstances: Circumstances,
    /// The newer model's prices; `None` without prices.
    pub rates: Option<&'a Rates>,
    /// Which prices these are, such as `list prices of 2026-11-21`.
    pub prices: String,
    /// The user's names of the older and the newer request.
    pub titles: [&'a str; 2],
    /// Chain and position of the newer request in its recording, if it comes from one.
    pub origin: (Option<&'a str>, Option<usize>),
    /// How names are shown.
    pub names: Names,
}

/// A harmless difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harmless {
    /// Its kind.
    pub note: Note,
    /// Its place.
    pub path: String,
}

impl<'a> Sides<'a> {
    /// The judgement of the newer request's changes in the prefix that the older one left in the cache.
    pub fn judged(&self) -> Judged {
        judge_pair(self.wire, self.rules, self.older, self.newer, self.rates, self.circumstances)
    }

    /// Harmless differences: in spelling, and those noted by the judge.
    pub fn notes(&self, judged: &Judged) -> Vec<Harmless> {
        let spelling =
            self.spelling.iter().map(|found| Harmless { note: Note::from(found.kind), path: found.path.clone() });
        let mut notes: Vec<Harmless> = spelling.collect();
        for noted in &judged.notes {
            let NoteKind::Harmless(note) = noted.note else { continue };
            let harmless = Harmless { note, path: noted.path.clone() };
            if !notes.contains(&harmless) {
                notes.push(harmless);
            }
        }
        notes
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
        Note::MarkerMoved => "a breakpoint is at another place or has another lifetime",
        Note::Envelope => "a field of the request that is not prompt",
        Note::TailOnly => "changed after the last breakpoint of the older request",
        Note::ReadAhead => "more was read than any visible request had sent",
    }
}
