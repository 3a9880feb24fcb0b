//! Tries each change of a request alone, with all others undone, to find what it loses (`design.md` 6).

use std::collections::BTreeSet;

use super::cause::Cause;
use super::counterfactual::{CarriedBlock, Counterfactual, MarkerChoice, MixedPrompt};
use super::difference::{Comparison, Difference};
use super::subject::Subject;
use crate::cache::{PromptCache, StepPrompt};
use crate::time::Instant;
use crate::wire::Wire;

/// A cache at an instant, to look prompts up in.
#[derive(Clone, Copy)]
pub struct CacheMoment<'a> {
    /// The cache.
    pub cache: &'a dyn PromptCache,
    /// The instant.
    pub at: Instant,
}

impl CacheMoment<'_> {
    /// How many leading blocks of a prompt are read.
    pub fn read(&self, wire: &Wire, prompt: &StepPrompt) -> usize {
        self.cache.reads(&wire.prefixes, prompt, self.at)
    }
}

/// Two consecutive requests, and what the newer one reads with its changes undone.
pub struct Trials<'a> {
    wire: &'a Wire,
    moment: CacheMoment<'a>,
    comparison: &'a Comparison,
    undone: Counterfactual<'a>,
    /// Blocks of the older prompt that are read with all changes undone.
    kept: usize,
}

/// Blocks of the newer request whose loss is already counted. A token has one cause: the first change in prompt order
/// that loses it (`design.md` 6). The losses of a request therefore add up to the amount overpaid.
#[derive(Debug, Default)]
pub struct LossTally(BTreeSet<usize>);

impl LossTally {
    /// Those of `lost` that no earlier change has counted.
    pub fn first(&mut self, lost: Vec<CarriedBlock>) -> Vec<CarriedBlock> {
        lost.into_iter().filter(|carried| self.0.insert(carried.new)).collect()
    }
}

/// What a change does to the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeDamage {
    /// Without any other change, the request reads less because of this one.
    pub breaks_prefix: bool,
    /// Blocks that were sent before and would have been read without this change: after it, within it, and before it
    /// back to the end of a breakpoint. Blocks that an earlier change loses as well are not included.
    pub lost: Vec<CarriedBlock>,
}

impl<'a> Trials<'a> {
    /// Prepares to try the changes that `concerns` selects; all others belong to the newer request and stay.
    pub fn new(
        wire: &'a Wire,
        moment: CacheMoment<'a>,
        requests: [&'a Subject; 2],
        comparison: &'a Comparison,
        concerns: &dyn Fn(&Difference) -> bool,
    ) -> Self {
        let undone = Counterfactual::new(wire, requests, comparison, concerns);
        let mut trials = Self { wire, moment, comparison, undone, kept: 0 };
        if !comparison.differences.is_empty() {
            let base = trials.undone.all_but(None, MarkerChoice::OfBoth);
            trials.kept = base.kept(trials.read(&base));
        }
        trials
    }

    /// The two prompts side by side.
    pub const fn undone(&self) -> &Counterfactual<'a> {
        &self.undone
    }

    /// How many leading blocks of the older prompt are read with all changes undone.
    pub const fn kept(&self) -> usize {
        self.kept
    }

    /// How many leading blocks of a mixed prompt are read.
    pub fn read(&self, mixed: &MixedPrompt) -> usize {
        self.moment.read(self.wire, &mixed.prompt)
    }

    /// The effect of the change at index `at`. The request as it was sent, with all changes, reads `sent_read` blocks.
    pub fn damage(&self, at: usize, sent_read: usize, counted: &mut LossTally) -> ChangeDamage {
        let change = &self.comparison.differences[at];
        let mixed = self.undone.all_but(Some(at), MarkerChoice::OfBoth);
        let read = self.read(&mixed);
        let lost = self.lost(&mixed, read);
        let is_unread = |carried: &&CarriedBlock| carried.new >= sent_read;
        let paid: Vec<CarriedBlock> = lost.iter().filter(is_unread).copied().collect();
        // A sibling may have written all the blocks that this change brings, in their changed form.
        let breaks_prefix = self.breaks_prefix(change, &mixed, read) && (lost.is_empty() || !paid.is_empty());
        let lost = if breaks_prefix { counted.first(paid) } else { Vec::new() };
        ChangeDamage { breaks_prefix, lost }
    }

    /// A block is not read that is read without the change. Everything after a compacted history, and the summary
    /// itself, takes the place of that history.
    fn breaks_prefix(&self, change: &Difference, mixed: &MixedPrompt, read: usize) -> bool {
        let is_unread = mixed.slots.len() > read;
        if change.cause == Cause::Compacted && change.begins() < self.kept && is_unread {
            return true;
        }
        let came = |new: usize| change.pairs.iter().find(|pair| pair.new == Some(new));
        mixed.slots.iter().skip(read).any(|slot| match (slot.old, slot.new) {
            (Some(old), _) => old < self.kept,
            (None, Some(new)) => came(new).is_some_and(|pair| pair.old_at < self.kept),
            (None, None) => false,
        })
    }

    fn lost(&self, mixed: &MixedPrompt, read: usize) -> Vec<CarriedBlock> {
        let unread = mixed.slots.iter().skip(read);
        let carried = unread.filter_map(|slot| self.undone.carried_in(slot));
        carried.filter(|carried| carried.resent.old < self.kept).collect()
    }
}

impl Difference {
    /// Where the change begins in the older prompt.
    pub fn begins(&self) -> usize {
        self.pairs.iter().map(|pair| pair.old_at).min().map_or(0, |first| first.min(self.old_index))
    }
}
