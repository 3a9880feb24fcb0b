//! Siblings still share what they shared in a lock.

use std::collections::BTreeMap;

use super::matching;
use super::outline::Outlines;
use super::{Chain, Lock, Placed};
use crate::guard::judge::{Question, judge};
use crate::guard::timeless::TimelessCache;
use crate::guard::{Finding, Rule, Rules};
use crate::wire::{Index, Level, Place};

/// Chains with a first request that shares less with the others than in the older lock: where it diverges from them
/// now, and why. Changes to the shared part itself do not matter as long as all chains change alike.
pub fn sharing(old: &Lock, new: &Lock, rules: &Rules) -> Vec<Finding> {
    let (before, after) = (Shared::of(old), Shared::of(new));
    let mut found = Vec::new();
    let numbers: BTreeMap<&str, usize> =
        old.chains.iter().enumerate().map(|(at, old)| (old.name.as_str(), at)).collect();
    // The newer lock's chains come first, in its order.
    let matched = matching::chains(old, new).into_iter().map(|known| known.old);
    for ((at, chain), was) in new.chains.iter().enumerate().zip(matched) {
        let Some(was_at) = was.and_then(|was| numbers.get(was.name.as_str())).copied() else { continue };
        let (parted, parts) = (before.parts(old, was_at), after.parts(new, at));
        let (Some(parted), Some(parts)) = (parted, parts) else { continue };
        if order(parts) < order(parted) {
            let sibling = before.with[was_at].map(|with| &old.chains[with].name);
            found.extend(sibling.and_then(|name| parting(new, chain, name, rules)));
        }
    }
    found
}

/// How much the first request of each chain shares with an earlier chain.
struct Shared {
    /// In step with the chains: leading blocks shared.
    blocks: Vec<usize>,
    /// In step with the chains: the chain that it shares them with.
    with: Vec<Option<usize>>,
}

impl Shared {
    fn of(lock: &Lock) -> Self {
        let mut owners: Index<u32, usize> = Index::default();
        let mut shared = Self { blocks: Vec::new(), with: Vec::new() };
        for (at, chain) in lock.chains.iter().enumerate() {
            let first = chain.requests.first().map(|first| lock.prompt(first)).unwrap_or_default();
            let held = first.iter().take_while(|placed| owners.contains(&placed.at)).count();
            shared.blocks.push(held);
            shared.with.push(held.checked_sub(1).and_then(|last| owners.get(&first[last].at)).copied());
            for request in &chain.requests {
                for placed in lock.prompt(request) {
                    owners.get_or_insert_with(placed.at, || at);
                }
            }
        }
        shared
    }

    /// The place where the first request of a chain diverges from all earlier ones; `None` if it shares nothing, or has
    /// nothing of its own.
    fn parts(&self, lock: &Lock, chain: usize) -> Option<Place> {
        let first = lock.chains.get(chain)?.requests.first()?;
        lock.prompt(first).get(self.blocks[chain]).map(|placed| placed.place)
    }
}

/// Places in the order of a prompt: a level's own parameters come before its elements.
const fn order(place: Place) -> (Level, u32, bool, u32) {
    (place.level, place.item.wrapping_add(1), !place.keys, place.part)
}

/// Where `chain` now diverges from the sibling `name`: from the request of it with which it shares most.
fn parting(lock: &Lock, chain: &Chain, name: &str, rules: &Rules) -> Option<Finding> {
    let after = chain.requests.first()?;
    let own = lock.prompt(after);
    let sibling = lock.chain(name)?;
    let common = |prompt: &[Placed<'_>]| {
        prompt.iter().zip(&own).take_while(|(old, new)| old.block.digest == new.block.digest).count()
    };
    let prompts = sibling.requests.iter().map(|request| (request, lock.prompt(request)));
    let (before, _) = prompts.max_by_key(|(_, prompt)| common(prompt))?;
    let mut outlines = Outlines::default();
    let [older, newer] = [before, after].map(|locked| outlines.read(lock, locked, after, rules));
    let mut cache = TimelessCache::new(&rules.preset);
    cache.serve(&outlines.wire, &older);
    let case = Question {
        wire: &outlines.wire,
        timeless: cache.moment(),
        clocked: cache.moment(),
        older: &older,
        newer: &newer,
        rates: after.rates.as_ref(),
        rule: Rule::Sharing,
        chain: &chain.name,
        concerns: &|_| true,
        read_tokens: 0,
        asks_breakpoints: false,
    };
    let (findings, _) = judge(&case);
    findings.into_iter().next().map(|found| Finding { older: None, ..found })
}
