//! A fork compared with the request that it continues.

use std::sync::Arc;

use super::card::Evidence;
use super::launch::Timing;
use crate::cache::Rules;
use crate::diagnosis::{ChangeSite, Comparison, Difference};
use crate::guard::identity::{Relative, Sender, Sibling};
use crate::guard::pair::judge_of_tests;
use crate::guard::{Facts, Finding};
use crate::time::Instant;
use crate::wire::{Level, Request, Wire};

/// A stored request.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub sender: Sender,
    pub request: Arc<Request>,
    /// The body; `None` if the requests of the input were rebuilt.
    pub body: Option<Vec<u8>>,
    at: Option<Instant>,
    first_byte_at: Option<Instant>,
}

impl Capture {
    pub(super) fn new(sender: Sender, request: Arc<Request>, body: Option<&[u8]>, facts: &Facts<'_>) -> Self {
        Self { sender, request, body: body.map(<[u8]>::to_vec), at: facts.at, first_byte_at: facts.first_byte_at }
    }

    pub(super) const fn has_body(&self) -> bool {
        self.body.is_some()
    }

    pub(super) const fn timing(&self) -> Timing {
        Timing { request: self.sender.index, at: self.at, first_byte_at: self.first_byte_at }
    }

    /// Something found in it; it was compared with `older`.
    pub(super) fn evidence(&self, older: &Self, path: String, found: String) -> Evidence {
        let (chain, request) = (self.sender.name.clone(), self.sender.index);
        Evidence { chain, request, older: Some(older.sender.index), path, found }
    }

    /// How many leading blocks the breakpoints cover.
    pub(super) fn covered(&self) -> usize {
        let ends = self.request.markers.iter().filter_map(|marker| self.request.index_of(marker));
        ends.max().map_or(0, |at| at + 1)
    }
}

impl Relative for Arc<Capture> {
    fn request(&self) -> &Request {
        &self.request
    }

    fn sender(&self) -> &Sender {
        &self.sender
    }
}

/// A fork and the request that it continues.
pub(super) struct Pair<'a> {
    pub wire: &'a Wire,
    /// The parent's request.
    pub base: &'a Capture,
    /// The fork's first request.
    pub fork: &'a Capture,
    /// Blocks of `base` that the fork has to share.
    pub until: usize,
    /// The fork compared with `base`.
    pub comparison: &'a Comparison,
    /// The part that siblings share beyond that, and the fork compared with the first of them.
    pub sibling: Option<(Sibling<Arc<Capture>>, Comparison)>,
    /// The fork compared with its first sibling, and the block from which on that sibling differs from the parent.
    pub eldest: Option<(Comparison, usize)>,
}

impl Pair<'_> {
    pub(super) fn evidence(&self, path: String, found: String) -> Evidence {
        self.fork.evidence(self.base, path, found)
    }

    /// A difference as evidence.
    pub(super) fn difference(&self, found: &Difference) -> Evidence {
        self.evidence(found.path.clone(), in_words(found))
    }

    /// Blocks of the parent's request that count as history: those that breakpoints in the messages cover.
    pub(super) fn history_end(&self) -> usize {
        let covered = self.base.covered();
        let start = self.base.request.level_start(Level::Messages);
        if covered > start { covered.min(self.until) } else { self.until }
    }

    /// Differences from the first sibling within the part that siblings share, and that sibling.
    pub(super) fn siblings_differences(&self) -> Vec<(&Difference, usize)> {
        let Some((sibling, comparison)) = &self.sibling else { return Vec::new() };
        let within = comparison.differences.iter().filter(|found| sibling.shared.contains(&found.old_index));
        within.map(|found| (found, sibling.first.sender.index)).collect()
    }

    /// The fork's own content before content that it shares with its first sibling.
    pub(super) fn early(&self) -> Option<Evidence> {
        let (comparison, own_from) = self.eldest.as_ref()?;
        let (partner, places) = (&comparison.alignment.partner, &self.fork.request.places);
        let is_own = |old: &Option<usize>| old.is_some_and(|old| old >= *own_from);
        let inherited = partner.iter().rposition(|old| old.is_some_and(|old| old < *own_from))?;
        let varies = (inherited + 1..partner.len()).find(|at| partner[*at].is_none() && !places[*at].keys)?;
        let shares = (varies + 1..partner.len()).any(|at| is_own(&partner[at]) && !places[at].keys);
        let found = "its own, and comes before content that it shares with its siblings".to_owned();
        shares.then(|| self.evidence(self.fork.request.path(places[varies]), found))
    }

    /// The fork's block with the parent's last breakpoint; `None` without one.
    pub(super) fn covered_end(&self) -> Option<usize> {
        let last = self.base.covered().min(self.until).checked_sub(1)?;
        let partner = &self.comparison.alignment.partner;
        let stays = partner.iter().position(|old| *old == Some(last));
        let changed = || {
            let there = self.comparison.differences.iter().find(|found| found.old_index == last && found.new.is_some());
            there.map(|found| found.new_index)
        };
        let before = || partner.iter().rposition(|old| old.is_some_and(|old| old < last));
        stays.or_else(changed).or_else(before).or(Some(0))
    }

    /// Parts of the cache's address that differ from the parent's.
    pub(super) fn cache_key(&self) -> Vec<Evidence> {
        const KEY: &str = "prompt_cache_key";
        let mut found = Vec::new();
        if self.base.sender.scope != self.fork.sender.scope {
            found.push(self.evidence(String::new(), "sent in another scope than the parent's request".to_owned()));
        }
        if self.base.request.envelope_value(KEY) != self.fork.request.envelope_value(KEY) {
            found.push(self.evidence(KEY.to_owned(), "another key than the parent's request has".to_owned()));
        }
        found
    }
}

/// What the next request of a chain lost of the entries that the last one left in the cache, according to the judge,
/// however short the prompt is.
pub(super) fn harm(wire: &Wire, rules: &Rules, last: &Capture, next: &Capture) -> Vec<Evidence> {
    let judged = judge_of_tests(wire, rules, &last.request, &next.request);
    let broken = judged.findings.iter().filter(|found| found.breaks_prefix && found.cause.is_change());
    let evidence = |found: &Finding| next.evidence(last, found.path.clone(), in_words(found));
    broken.map(evidence).collect()
}

/// A difference in words, without content.
fn in_words(found: &ChangeSite) -> String {
    let ChangeSite { cause, name, .. } = found;
    match found.offset_in_block {
        Some(at) => format!("{cause} ({name}, from byte {at} of the block)"),
        None => format!("{cause} ({name})"),
    }
}
