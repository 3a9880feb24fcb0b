//! A request with its changes undone, all of them or all but one: the older's blocks in place of the changed ones. What
//! is appended stays, and the request's own breakpoints stay where they stand. What a change of bytes breaks is asked with
//! the older request's breakpoints besides: that one was dropped is a change of its own.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::difference::{Comparison, Difference};
use super::pairing::Pair;
use super::resent::Resent;
use super::subject::Subject;
use crate::cache::{Step, StepPrompt};
use crate::wire::{Ttl, Wire};

/// What stands at a place of such a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedBlock {
    /// Index in the older prompt, of what is kept of it or stands in its place.
    pub old: Option<usize>,
    /// Index in the newer prompt, of what came from it.
    pub new: Option<usize>,
}

impl MixedPrompt {
    /// Of its first `read` blocks, how far they go in the older prompt.
    pub fn kept(&self, read: usize) -> usize {
        self.slots[..read].iter().filter_map(|slot| slot.old).max().map_or(0, |old| old + 1)
    }
}

/// Whose breakpoints such a prompt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerChoice {
    /// The newer request's.
    Own,
    /// Those of the older one too, as if none had been dropped or moved on.
    OfBoth,
}

/// Two requests laid side by side, ready to be mixed.
pub struct Counterfactual<'a> {
    wire: &'a Wire,
    older: &'a Subject,
    newer: &'a Subject,
    comparison: &'a Comparison,
    /// Changes that are the newer request's own: they are never undone.
    own: Vec<Pair>,
    /// The newer request's own model.
    own_model: bool,
    /// Blocks of the newer prompt behind all that the older had.
    appended: Vec<usize>,
    /// For each block of the older prompt the one of the newer that carries it, whole or in part.
    carried: BTreeMap<usize, CarriedBlock>,
}

/// A block of the newer prompt of which something was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedBlock {
    /// Index in the newer prompt.
    pub new: usize,
    /// What of it stood in the older prompt.
    pub resent: Resent,
}

/// A mixed prompt.
pub struct MixedPrompt {
    /// What stands where.
    pub slots: Vec<MixedBlock>,
    /// The same to be looked up.
    pub prompt: StepPrompt,
}

impl<'a> Counterfactual<'a> {
    /// Lays two requests side by side.
    pub fn new(
        wire: &'a Wire,
        [older, newer]: [&'a Subject; 2],
        comparison: &'a Comparison,
        concerns: &dyn Fn(&Difference) -> bool,
    ) -> Self {
        let appended = comparison.appended().collect();
        let carried = comparison.resent.iter().enumerate();
        let carried =
            carried.filter_map(|(new, resent)| resent.map(|resent| (resent.old, CarriedBlock { new, resent })));
        let own: Vec<_> = comparison.differences.iter().filter(|found| !concerns(found)).collect();
        let own_model = own.iter().any(|found| found.cause == Cause::ModelChanged);
        let own = own.into_iter().flat_map(|found| found.pairs.iter().copied()).collect();
        Self { wire, older, newer, comparison, own, own_model, appended, carried: carried.collect() }
    }

    /// The block of the newer prompt that carries the older's block `old`.
    pub fn carried(&self, old: usize) -> Option<CarriedBlock> {
        self.carried.get(&old).copied()
    }

    /// What of the block in `slot` was sent before and is carried by the newer request.
    pub fn carried_in(&self, slot: &MixedBlock) -> Option<CarriedBlock> {
        match slot.new {
            Some(new) => self.comparison.resent.get(new).map(|resent| CarriedBlock { new, resent }),
            None => slot.old.and_then(|old| self.carried(old)),
        }
    }

    /// The prompt with all changes undone but that of index `but`.
    pub fn all_but(&self, but: Option<usize>, breakpoints: MarkerChoice) -> MixedPrompt {
        let change = but.map(|at| &self.comparison.differences[at]);
        let pairs: Vec<Pair> = self.own.iter().chain(change.map_or(&[][..], |change| &change.pairs)).copied().collect();
        let slots = self.slots(&pairs);
        let model_kept = !self.own_model && change.is_none_or(|change| change.cause != Cause::ModelChanged);
        let (root, minimum_tokens) = if model_kept {
            (self.older.request.root, self.older.minimum_tokens)
        } else {
            (self.newer.request.root, self.newer.minimum_tokens)
        };
        let steps: Vec<Step> = slots.iter().filter_map(|slot| self.step(*slot)).collect();
        let markers = self.markers(&slots, breakpoints);
        MixedPrompt { prompt: StepPrompt::new(self.wire, root, &steps, &markers, minimum_tokens), slots }
    }

    /// The older's blocks with these pairs changed, and what is appended.
    fn slots(&self, pairs: &[Pair]) -> Vec<MixedBlock> {
        let len = self.older.request.nodes.len();
        let mut came: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut became: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        for pair in pairs {
            match pair.old {
                Some(old) => {
                    became.entry(old).or_insert(pair.new);
                }
                None => came.entry(pair.old_at).or_default().extend(pair.new),
            }
        }
        let mut slots = Vec::with_capacity(len + self.appended.len());
        for at in 0..=len {
            let inserted = came.get(&at).into_iter().flatten();
            slots.extend(inserted.map(|new| MixedBlock { old: None, new: Some(*new) }));
            match became.get(&at) {
                Some(Some(new)) => slots.push(MixedBlock { old: Some(at), new: Some(*new) }),
                None if at < len => slots.push(MixedBlock { old: Some(at), new: None }),
                Some(None) | None => {}
            }
        }
        slots.extend(self.appended.iter().map(|new| MixedBlock { old: None, new: Some(*new) }));
        slots
    }

    fn step(&self, slot: MixedBlock) -> Option<Step> {
        let prefixes = &self.wire.prefixes;
        match slot {
            MixedBlock { new: Some(new), .. } => self.newer.step(prefixes, new),
            MixedBlock { old: Some(old), .. } => self.older.step(prefixes, old),
            MixedBlock { .. } => None,
        }
    }

    /// Where the newer request's breakpoints stand among `slots`. A block that went took its breakpoint along, and brings
    /// it back.
    fn markers(&self, slots: &[MixedBlock], breakpoints: MarkerChoice) -> Vec<(usize, Ttl)> {
        let marked = self.newer.marked().into_iter();
        let own = marked.filter_map(|(new, ttl)| Some((self.place(slots, new)?, ttl)));
        let went = |old: usize| {
            let pairs = self.comparison.differences.iter().flat_map(|found| &found.pairs);
            pairs.into_iter().any(|pair| pair.old == Some(old) && pair.new.is_none())
        };
        let place = |old: usize| slots.iter().position(|slot| slot.old == Some(old));
        let comes_back = |(old, _): &(usize, Ttl)| breakpoints == MarkerChoice::OfBoth || went(*old);
        let back = self.older.marked().into_iter().filter(comes_back);
        own.chain(back.filter_map(|(old, ttl)| Some((place(old)?, ttl)))).collect()
    }

    /// Where the newer's block `new` stands among `slots`. Its end stays the end, and so does its last breakpoint where
    /// one change replaced the end; what came in stands behind what it came in behind.
    fn place(&self, slots: &[MixedBlock], new: usize) -> Option<usize> {
        if new + 1 == self.newer.request.nodes.len() {
            return slots.len().checked_sub(1);
        }
        if let Some(at) = slots.iter().position(|slot| slot.new == Some(new)) {
            return Some(at);
        }
        if let Some(at) = self.place_of_last(slots, new) {
            return Some(at);
        }
        let pairs = self.comparison.differences.iter().flat_map(|found| &found.pairs);
        let pair = pairs.into_iter().find(|pair| pair.new == Some(new));
        let old = self.comparison.alignment.partner[new].or(pair.and_then(|pair| pair.old));
        if let Some(at) = old.and_then(|old| slots.iter().position(|slot| slot.old == Some(old))) {
            return Some(at);
        }
        let before = pair.map_or(0, |pair| pair.old_at);
        slots.iter().rposition(|slot| slot.old.is_some_and(|old| old < before))
    }

    /// Where the older's end stands, if `new` has the newer's last breakpoint and is of the change that replaced this end.
    /// In a rewind blocks pair up by their order alone: a partner says nothing of where a client marks its end.
    fn place_of_last(&self, slots: &[MixedBlock], new: usize) -> Option<usize> {
        let is_last = self.newer.marked().iter().all(|(at, _)| *at <= new);
        let end = self.older.request.nodes.len().checked_sub(1).filter(|_| is_last)?;
        let change =
            self.comparison.differences.iter().find(|found| found.pairs.iter().any(|pair| pair.new == Some(new)))?;
        let replaced_end = change.pairs.iter().any(|pair| pair.old == Some(end));
        slots.iter().rposition(|slot| slot.old == Some(end)).filter(|_| replaced_end)
    }
}
