//! Tries each change of a request alone, with all others undone, to find what it loses (`design.md` 6).

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::cause::Cause;
use super::counterfactual::{CarriedBlock, Counterfactual, MarkerChoice, MixedPrompt};
use super::difference::{Comparison, Difference};
use super::subject::Subject;
use crate::cache::PromptCache;
use crate::time::Instant;
use crate::wire::Wire;

/// A cache at the instant of a request.
#[derive(Clone, Copy)]
pub struct CacheMoment<'a> {
    /// The cache.
    pub cache: &'a dyn PromptCache,
    /// The instant.
    pub at: Instant,
    /// How many leading blocks the request read, if that is recorded; otherwise the cache decides.
    pub recorded_read: Option<usize>,
}

/// Two consecutive requests, to find out what the newer one reads with its changes undone.
pub struct Trials<'a> {
    wire: &'a Wire,
    older: &'a Subject,
    newer: &'a Subject,
    comparison: &'a Comparison,
    undone: Counterfactual<'a>,
    /// Indices of the changes that are tried.
    tried: Vec<usize>,
    own_base: OnceCell<MixedPrompt>,
    base: OnceCell<MixedPrompt>,
}

/// What the changes of a request do in one cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestDamage {
    /// For each difference, in their order; nothing for those that are not tried.
    pub changes: Vec<ChangeDamage>,
    /// How many leading blocks are read with all changes undone and the request's own breakpoints.
    pub own_read: usize,
    /// Blocks that the breakpoints of the request lose: with all changes undone, those of the older request would read
    /// them. Blocks that a change loses are not included.
    pub of_breakpoints: Vec<CarriedBlock>,
}

/// What a change does to the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeDamage {
    /// Without any other change, the request reads less because of this one, or it is the first of several that cause a
    /// loss together.
    pub breaks_prefix: bool,
    /// Of what is lost, something had been sent before; else only the newest part of the older prompt was replaced.
    pub loses_content: bool,
    /// The same for a cache that reads by tokens, and so still reads a text that only grew.
    pub loses_tokens: bool,
    /// Blocks that were sent before and would have been read without this change: after it, within it, and before it
    /// back to the end of a breakpoint. Blocks that an earlier change loses as well are not included.
    pub lost: Vec<CarriedBlock>,
}

impl<'a> Trials<'a> {
    /// Prepares to try the changes that `concerns` selects; all others belong to the newer request and stay.
    pub fn new(
        wire: &'a Wire,
        requests: [&'a Subject; 2],
        comparison: &'a Comparison,
        concerns: &dyn Fn(&Difference) -> bool,
    ) -> Self {
        let undone = Counterfactual::new(wire, requests, comparison, concerns);
        let tried = comparison.differences.iter().enumerate().filter(|(_, found)| concerns(found));
        let tried = tried.map(|(at, _)| at).collect();
        let [older, newer] = requests;
        Self { wire, older, newer, comparison, undone, tried, own_base: OnceCell::new(), base: OnceCell::new() }
    }

    /// The prompt with all changes undone and the request's own breakpoints.
    pub fn own_base(&self) -> &MixedPrompt {
        self.own_base.get_or_init(|| self.undone.all_but(None, MarkerChoice::Own))
    }

    /// The same with the breakpoints of both requests.
    fn base(&self) -> &MixedPrompt {
        self.base.get_or_init(|| self.undone.all_but(None, MarkerChoice::OfBoth))
    }

    /// What the changes do in each of these caches. A later cache is asked only about a change that breaks the prefix in
    /// the earlier ones, unless it is recorded what the request read. A block counts for the first change in prompt order
    /// that loses it (`design.md` 6); what several changes lose only together, for the first of them.
    pub fn damage<const N: usize>(&self, moments: [CacheMoment<'_>; N]) -> [RequestDamage; N] {
        let mut hearings = moments.map(|moment| Hearing::new(self, moment));
        for at in self.tried.iter().copied() {
            let mixed = self.undone.all_but(Some(at), MarkerChoice::OfBoth);
            ask(&mut hearings, |hearing| hearing.change(at, &mixed));
        }
        if let Some(first) = self.tried.first() {
            ask(&mut hearings, |hearing| hearing.together(*first));
        }
        hearings.map(Hearing::finish)
    }
}

/// Asks each of the caches whether a change breaks the prefix.
fn ask(hearings: &mut [Hearing<'_>], mut breaks_prefix: impl FnMut(&mut Hearing<'_>) -> bool) {
    let mut goes_on = true;
    for hearing in hearings {
        if goes_on || hearing.moment.recorded_read.is_some() {
            goes_on = breaks_prefix(hearing);
        }
    }
}

/// The trials of a request in one cache.
struct Hearing<'a> {
    trials: &'a Trials<'a>,
    moment: CacheMoment<'a>,
    /// Leading blocks that the request reads as it was sent, with all changes.
    sent_read: usize,
    /// Blocks of the older prompt that are read with all changes undone: with the request's own breakpoints, and with
    /// those of both requests.
    own_kept: usize,
    kept: usize,
    /// Blocks of the newer prompt whose loss is counted.
    counted: BTreeSet<usize>,
    damage: RequestDamage,
}

impl<'a> Hearing<'a> {
    fn new(trials: &'a Trials<'a>, moment: CacheMoment<'a>) -> Self {
        let Trials { wire, older, newer, comparison, .. } = *trials;
        let sent_read = || newer.read(wire, moment.cache, moment.at);
        let changes = vec![ChangeDamage::default(); comparison.differences.len()];
        let mut hearing = Self {
            trials,
            moment,
            sent_read: moment.recorded_read.unwrap_or_else(sent_read),
            own_kept: 0,
            kept: 0,
            counted: BTreeSet::new(),
            damage: RequestDamage { changes, ..RequestDamage::default() },
        };
        // With nothing to undo, the request itself is the base.
        let is_base = comparison.differences.is_empty();
        let own_read = if is_base { sent_read() } else { hearing.read(trials.own_base()) };
        hearing.damage.own_read = own_read;
        if !trials.tried.is_empty() || newer.refusal.is_some() || own_read < older.covered() {
            hearing.own_kept = trials.own_base().kept(own_read);
            hearing.kept = trials.base().kept(hearing.read(trials.base()));
        }
        hearing
    }

    /// How many leading blocks of a mixed prompt are read.
    fn read(&self, mixed: &MixedPrompt) -> usize {
        self.moment.cache.reads(&self.trials.wire.prefixes, &mixed.prompt, self.moment.at)
    }

    /// Tries the change at index `at`, which alone stays in `mixed`; says whether it breaks the prefix.
    fn change(&mut self, at: usize, mixed: &MixedPrompt) -> bool {
        let read = self.read(mixed);
        let unread = mixed.slots.iter().skip(read);
        let carried = unread.filter_map(|slot| self.trials.undone.carried_in(slot));
        let lost: Vec<CarriedBlock> = carried.filter(|carried| carried.resent.old < self.kept).collect();
        let paid: Vec<CarriedBlock> = lost.iter().filter(|carried| carried.new >= self.sent_read).copied().collect();
        // A sibling may have written all the blocks that this change brings, in their changed form.
        let breaks_prefix = self.is_unread(at, mixed, read) && (lost.is_empty() || !paid.is_empty());
        let loses_content = paid.iter().any(|carried| carried.resent.is_content(false));
        let loses_tokens = paid.iter().any(|carried| carried.resent.is_content(true));
        let lost = if breaks_prefix { self.first(paid) } else { Vec::new() };
        self.damage.changes[at] = ChangeDamage { breaks_prefix, loses_content, loses_tokens, lost };
        breaks_prefix
    }

    /// A block is not read that is read without the change. Everything after a compacted history, and the summary
    /// itself, takes the place of that history.
    fn is_unread(&self, at: usize, mixed: &MixedPrompt, read: usize) -> bool {
        let change = &self.trials.comparison.differences[at];
        if change.cause == Cause::Compacted && change.begins() < self.kept && mixed.slots.len() > read {
            return true;
        }
        let came = |new: usize| change.pairs.iter().find(|pair| pair.new == Some(new));
        mixed.slots.iter().skip(read).any(|slot| match (slot.old, slot.new) {
            (Some(old), _) => old < self.kept,
            (None, Some(new)) => came(new).is_some_and(|pair| pair.old_at < self.kept),
            (None, None) => false,
        })
    }

    /// Counts for the change at index `first` what no change loses alone; says whether there is anything.
    fn together(&mut self, first: usize) -> bool {
        if self.is_kept_by_rules(first) {
            return false;
        }
        let lost = self.unread(0..self.own_kept);
        let change = &mut self.damage.changes[first];
        change.breaks_prefix |= !lost.is_empty();
        let is_content = lost.iter().any(|carried| carried.resent.is_content(false));
        change.loses_content |= is_content;
        change.loses_tokens |= is_content;
        change.lost.extend_from_slice(&lost);
        !lost.is_empty()
    }

    /// By the rules the request reads, with all changes, everything that it reads without them: that it was recorded to read
    /// less has another reason. A change of the model comes before any other reason.
    fn is_kept_by_rules(&self, first: usize) -> bool {
        if self.moment.recorded_read.is_none() || self.trials.comparison.differences[first].cause == Cause::ModelChanged
        {
            return false;
        }
        let foreseen = self.trials.newer.read(self.trials.wire, self.moment.cache, self.moment.at);
        let mut carried = (0..self.own_kept).filter_map(|old| self.trials.undone.carried(old));
        carried.all(|carried| carried.new < foreseen)
    }

    /// Blocks that were at these positions of the older prompt and are not counted yet. The provider reads nothing for a
    /// request that it refuses.
    fn unread(&mut self, old: Range<usize>) -> Vec<CarriedBlock> {
        let sent_read = if self.trials.newer.refusal.is_some() { 0 } else { self.sent_read };
        let carried = old.filter_map(|old| self.trials.undone.carried(old));
        self.first(carried.filter(|carried| carried.new >= sent_read).collect())
    }

    /// Those of `lost` that are not counted yet.
    fn first(&mut self, lost: Vec<CarriedBlock>) -> Vec<CarriedBlock> {
        lost.into_iter().filter(|carried| self.counted.insert(carried.new)).collect()
    }

    fn finish(mut self) -> RequestDamage {
        let is_refused = self.trials.newer.refusal.is_some();
        let from = if is_refused { 0 } else { self.own_kept };
        self.damage.of_breakpoints = self.unread(from..self.kept);
        self.damage
    }
}

impl Difference {
    /// Where the change begins in the older prompt.
    pub fn begins(&self) -> usize {
        self.pairs.iter().map(|pair| pair.old_at).min().map_or(0, |first| first.min(self.old_index))
    }
}
