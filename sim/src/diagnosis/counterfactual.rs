//! A request with its changes undone, all of them or all but one: the older blocks replace the changed ones. Appended
//! blocks stay, and the request's own breakpoints keep their positions. To see what a change of bytes breaks, the older
//! request's breakpoints are added: dropping one is a change of its own.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::difference::{Comparison, Difference};
use super::pairing::Pair;
use super::resent::Resent;
use super::subject::Subject;
use crate::cache::{Step, StepPrompt};
use crate::wire::{Ttl, Wire};

/// The block in one slot of such a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedBlock {
    /// Index of the older block that is kept, in full or in part, or that is replaced.
    pub old: Option<usize>,
    /// Index of the newer block, if something of it is in this slot.
    pub new: Option<usize>,
}

impl MixedPrompt {
    /// How many blocks of the older prompt the first `read` slots cover.
    pub fn kept(&self, read: usize) -> usize {
        self.slots[..read].iter().filter_map(|slot| slot.old).max().map_or(0, |old| old + 1)
    }
}

/// Which breakpoints such a prompt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerChoice {
    /// The newer request's.
    Own,
    /// Also those of the older request, as if none had been dropped or moved on.
    OfBoth,
}

/// Two aligned requests, ready to be mixed.
pub struct Counterfactual<'a> {
    wire: &'a Wire,
    older: &'a Subject,
    newer: &'a Subject,
    comparison: &'a Comparison,
    /// Changes that stay: they are never undone.
    own: Vec<Pair>,
    /// The newer request keeps its own model.
    own_model: bool,
    /// Blocks of the newer prompt after everything that corresponds to the older one.
    appended: Vec<usize>,
    /// For each block of the older prompt, the block of the newer that carries it, in full or in part.
    carried: BTreeMap<usize, CarriedBlock>,
}

/// A block of the newer prompt that was sent before, at least in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedBlock {
    /// Index in the newer prompt.
    pub new: usize,
    /// The part of it that was in the older prompt.
    pub resent: Resent,
}

/// A mixed prompt.
pub struct MixedPrompt {
    /// The block of each slot.
    pub slots: Vec<MixedBlock>,
    /// The prompt, for look-ups.
    pub prompt: StepPrompt,
}

impl<'a> Counterfactual<'a> {
    /// Aligns two requests.
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

    /// The block of the newer prompt that carries block `old` of the older one.
    pub fn carried(&self, old: usize) -> Option<CarriedBlock> {
        self.carried.get(&old).copied()
    }

    /// The part of the block in `slot` that was sent before and that the newer request carries.
    pub fn carried_in(&self, slot: &MixedBlock) -> Option<CarriedBlock> {
        match slot.new {
            Some(new) => self.comparison.resent.get(new).map(|resent| CarriedBlock { new, resent }),
            None => slot.old.and_then(|old| self.carried(old)),
        }
    }

    /// The prompt with every change undone except the one at index `but`.
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

    /// The older blocks with these pairs changed, followed by the appended blocks.
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

    /// Positions of the newer request's breakpoints among `slots`. A removed block took its breakpoint along, and
    /// brings it back.
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

    /// Position of the newer block `new` among `slots`. The end stays the end, and keeps the last breakpoint if one
    /// change replaced the end; an added block keeps its predecessor.
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

    /// The end of the older prompt, if `new` has the newer request's last breakpoint and belongs to the change that
    /// replaced this end. In a rewind, blocks are paired by order alone, so a partner does not show where a client
    /// marks its end.
    fn place_of_last(&self, slots: &[MixedBlock], new: usize) -> Option<usize> {
        let is_last = self.newer.marked().iter().all(|(at, _)| *at <= new);
        let end = self.older.request.nodes.len().checked_sub(1).filter(|_| is_last)?;
        let change =
            self.comparison.differences.iter().find(|found| found.pairs.iter().any(|pair| pair.new == Some(new)))?;
        let replaced_end = change.pairs.iter().any(|pair| pair.old == Some(end));
        slots.iter().rposition(|slot| slot.old == Some(end)).filter(|_| replaced_end)
    }
}
