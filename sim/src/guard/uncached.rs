//! Chains of which nothing is ever cached. Nothing can break in them, and users who look for breaks need to know that.

use std::collections::BTreeMap;

use super::identity::Lane;
use crate::diagnosis::Subject;
use crate::outside::quoted;
use crate::wire::ChainId;

/// What each chain had in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncached {
    chains: BTreeMap<ChainId, Kept>,
}

/// The breakpoints of a chain's requests.
#[derive(Clone, Debug, Default)]
struct Kept {
    name: String,
    requests: usize,
    /// The longest prefix before a breakpoint, and the shortest that its model caches, in tokens.
    longest: Option<(u64, u64)>,
    /// A prefix was long enough, or a recorded usage shows what the provider kept.
    cached: bool,
}

impl Uncached {
    /// Takes a request; `is_measured` if its usage is recorded.
    pub fn take(&mut self, taken: &Subject, lane: &Lane, is_measured: bool) {
        let kept = self.chains.entry(lane.chain).or_insert_with(|| Kept { name: lane.name.clone(), ..Kept::default() });
        kept.requests += 1;
        kept.cached |= is_measured || taken.refusal.is_some() || taken.covered() > 0;
        let covered = taken.marked().into_iter().map(|(at, _)| taken.cumulative[at]).max();
        let covered = covered.map(|tokens| (tokens, taken.minimum_tokens));
        kept.longest = kept.longest.max(covered);
    }

    /// The warning in words. A single request has nothing to keep.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let silent = || self.chains.values().filter(|kept| !kept.cached && kept.requests > 1);
        let unmarked = told(silent().filter(|kept| kept.longest.is_none()), |_| {
            "carry no cache breakpoint, so nothing of them is cached and no change can break a prefix.".to_owned()
        });
        let short = told(silent().filter(|kept| kept.longest.is_some()), |kept| {
            let (tokens, minimum) = kept.longest.unwrap_or_default();
            format!(
                "have their last breakpoint after {tokens} tokens or fewer, and their model caches nothing below {minimum}, so no change \
                 can break a prefix."
            )
        });
        unmarked.into_iter().chain(short)
    }
}

/// One sentence for all chains of one sort.
fn told<'a>(chains: impl Iterator<Item = &'a Kept>, what: impl Fn(&Kept) -> String) -> Option<String> {
    let chains: Vec<&Kept> = chains.collect();
    let longest = chains.iter().max_by_key(|kept| kept.longest)?;
    let requests: usize = chains.iter().map(|kept| kept.requests).sum();
    let whose = match chains.as_slice() {
        [only] => quoted(&only.name),
        [first, more @ ..] => format!("{} and {} more chains", quoted(&first.name), more.len()),
        [] => return None,
    };
    Some(format!(
        "The {requests} requests of {whose} {} If they are those of a test, `in_tests` checks them all the same.",
        what(longest)
    ))
}
