//! Matches the chains and requests of two locks.

use super::digest::Digest;
use super::{Chain, Lock, Locked};
use crate::diagnosis::{Gap, align};
use crate::wire::{self, BlockId, Index, Level};

/// A pair at the same place of two locks; one side is absent if it is missing or new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match<'a, T> {
    pub old: Option<&'a T>,
    pub new: Option<&'a T>,
}

/// Matches chains by name, in the order of the newer lock. Generated names only number chains, so chains with such
/// names are first matched by their first messages, and by number last, because generated names begin with the name of
/// a folder.
pub(super) fn chains<'a>(old: &'a Lock, new: &'a Lock) -> Vec<Match<'a, Chain>> {
    let opening = |chain: &Chain| chain.requests.first().and_then(|first| first.levels[Level::Messages as usize]);
    let opens_alike = |old: &Chain, new: &Chain| opening(new).is_some() && opening(old) == opening(new);
    let is_same = |old: &Chain, new: &Chain| old.name == new.name;
    let is_named = |chain: &Chain| number(chain).is_none();
    let mut left: Vec<&Chain> = old.chains.iter().collect();
    let mut found: Vec<Option<&Chain>> = vec![None; new.chains.len()];
    let mut pair = |fits: &dyn Fn(&Chain, &Chain) -> bool| {
        for (new, found) in new.chains.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let at = left.iter().position(|old| fits(old, new));
            *found = at.map(|at| left.remove(at));
        }
    };
    pair(&|old, new| is_same(old, new) && (is_named(new) || opens_alike(old, new)));
    pair(&opens_alike);
    pair(&is_same);
    pair(&|old, new| !is_named(new) && number(old) == number(new));
    let both = new.chains.iter().zip(found).map(|(new, old)| Match { old, new: Some(new) });
    both.chain(left.into_iter().map(|chain| Match { old: Some(chain), new: None })).collect()
}

/// The number in a generated name: `bodies#2`.
fn number(chain: &Chain) -> Option<&str> {
    let (_, number) = chain.name.rsplit_once('#')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Matches the requests of a chain in order. If the conversation is compared, a missing or new request shifts those
/// after it; if not, the conversation may have any length and its last request counts for all later ones.
pub(super) fn requests<'a>(old: &'a Chain, new: &'a Chain, levels: &[Level]) -> Vec<Match<'a, Locked>> {
    if !levels.contains(&Level::Messages) {
        let of = |at: usize| old.requests.get(at).or(old.requests.last());
        return new.requests.iter().enumerate().map(|(at, new)| Match { old: of(at), new: Some(new) }).collect();
    }
    let mut numbers: Index<Option<Digest>, BlockId> = Index::default();
    let mut number = |request: &Locked| {
        let next = BlockId(wire::number(numbers.len()));
        *numbers.get_or_insert_with(request.levels[Level::Messages as usize], || next)
    };
    let ids = [old, new].map(|chain| chain.requests.iter().map(&mut number).collect::<Vec<BlockId>>());
    let alignment = align(&ids[0], &ids[1]);
    let mut found = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for gap in &alignment.gaps {
        both(old, new, &Gap { old: old_at..gap.old.start, new: new_at..gap.new.start }, &mut found);
        both(old, new, gap, &mut found);
        (old_at, new_at) = (gap.old.end, gap.new.end);
    }
    both(old, new, &Gap { old: old_at..old.requests.len(), new: new_at..new.requests.len() }, &mut found);
    found
}

/// Matches a stretch request by request; the excess of the longer side is missing or new.
fn both<'a>(old: &'a Chain, new: &'a Chain, stretch: &Gap, found: &mut Vec<Match<'a, Locked>>) {
    let length = stretch.old.len().max(stretch.new.len());
    let at = |chain: &'a Chain, stretch: &std::ops::Range<usize>, step: usize| {
        stretch.clone().nth(step).and_then(|at| chain.requests.get(at))
    };
    found.extend((0..length).map(|step| Match { old: at(old, &stretch.old, step), new: at(new, &stretch.new, step) }));
}
