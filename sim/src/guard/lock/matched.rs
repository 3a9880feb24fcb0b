//! Which chain and which request of one lock is which of another.

use std::collections::BTreeMap;

use super::digest::Digest;
use super::{Chain, Lock, Locked};
use crate::diagnosis::align;
use crate::wire::{BlockId, Index, Level};

/// What was found at the same place in two locks; one side is absent where something is missing or new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matched<'a, T> {
    pub old: Option<&'a T>,
    pub new: Option<&'a T>,
}

/// Chains by name, in the order of the newer lock; what is left by its first messages, since names that are made up count chains.
pub(super) fn chains<'a>(old: &'a Lock, new: &'a Lock) -> Vec<Matched<'a, Chain>> {
    let [by_name, names] = [old, new].map(by_name);
    let mut left: Vec<&Chain> = old.chains.iter().filter(|chain| !names.contains_key(chain.name.as_str())).collect();
    let opening = |chain: &Chain| chain.requests.first().and_then(|first| first.levels[Level::Messages as usize]);
    let mut found: Vec<Matched<'a, Chain>> = Vec::new();
    for chain in &new.chains {
        let named = by_name.get(chain.name.as_str()).copied();
        let alike = || {
            let opened = opening(chain)?;
            let at = left.iter().position(|known| opening(known) == Some(opened))?;
            Some(left.remove(at))
        };
        found.push(Matched { old: named.or_else(alike), new: Some(chain) });
    }
    found.extend(left.into_iter().map(|chain| Matched { old: Some(chain), new: None }));
    found
}

fn by_name(lock: &Lock) -> BTreeMap<&str, &Chain> {
    lock.chains.iter().map(|chain| (chain.name.as_str(), chain)).collect()
}

/// Requests of a chain in their order. Where the conversation is asked about, one that is missing or new moves those
/// behind it; where it is not, the conversation may be of any length and its last request stands for all behind.
pub(super) fn requests<'a>(old: &'a Chain, new: &'a Chain, levels: &[Level]) -> Vec<Matched<'a, Locked>> {
    if !levels.contains(&Level::Messages) {
        let of = |at: usize| old.requests.get(at).or(old.requests.last());
        return new.requests.iter().enumerate().map(|(at, new)| Matched { old: of(at), new: Some(new) }).collect();
    }
    let mut numbers: Index<Option<Digest>, BlockId> = Index::default();
    let mut number = |request: &Locked| {
        let next = BlockId(u32::try_from(numbers.len()).unwrap_or(u32::MAX));
        *numbers.get_or_insert_with(request.levels[Level::Messages as usize], || next)
    };
    let ids = [old, new].map(|chain| chain.requests.iter().map(&mut number).collect::<Vec<BlockId>>());
    let alignment = align(&ids[0], &ids[1]);
    let mut found = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for gap in &alignment.gaps {
        both(old, new, (old_at..gap.old.start, new_at..gap.new.start), &mut found);
        both(old, new, (gap.old.clone(), gap.new.clone()), &mut found);
        (old_at, new_at) = (gap.old.end, gap.new.end);
    }
    both(old, new, (old_at..old.requests.len(), new_at..new.requests.len()), &mut found);
    found
}

type Stretches = (std::ops::Range<usize>, std::ops::Range<usize>);

/// Request by request; what the longer stretch has more is missing or new.
fn both<'a>(old: &'a Chain, new: &'a Chain, (olds, news): Stretches, found: &mut Vec<Matched<'a, Locked>>) {
    let length = olds.len().max(news.len());
    let at = |chain: &'a Chain, stretch: &std::ops::Range<usize>, step: usize| {
        stretch.clone().nth(step).and_then(|at| chain.requests.get(at))
    };
    found.extend((0..length).map(|step| Matched { old: at(old, &olds, step), new: at(new, &news, step) }));
}
