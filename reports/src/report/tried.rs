//! Which what-ifs say something of these requests, and how.

use forkcast_replay::what_if::{Basis, WhatIf};
use forkcast_sim::pricing::{ModelKey, Terms};

use super::{Recorded, Report};

/// A what-if and the requests that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Requests that were sent to a cache of it.
    pub cached: u64,
    /// Requests with the same tokens at other prices.
    pub same_tokens: u64,
}

impl Tried {
    /// All other requests count as they were billed.
    pub const fn says_something(&self) -> bool {
        self.cached > 0 || self.same_tokens > 0
    }
}

/// Counts a request under each of `what_ifs`.
pub(super) fn take(what_ifs: &mut [Tried], entry: &Recorded<'_>) {
    for (tried, found) in what_ifs.iter_mut().zip(&entry.hypotheticals) {
        match found.basis {
            Basis::Cache => tried.cached += 1,
            Basis::SameTokens => tried.same_tokens += 1,
            Basis::Billed => {}
        }
    }
}

/// Why a requested what-if says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untried {
    /// The recording has no instants.
    NoInstants,
    /// The cache of these models is not modelled.
    NoCache,
    /// The other model has no price.
    NoPrice,
    /// No request has both a usage and a price.
    NothingPriced,
}

impl Report<'_> {
    /// The what-ifs that say something, with their places among those of the options and in every
    /// [`Account::what_if`](super::Account::what_if).
    pub fn tried(&self) -> impl Iterator<Item = (usize, &Tried)> {
        self.what_ifs.iter().enumerate().filter(|(_, tried)| tried.says_something())
    }

    /// The requested what-ifs that say nothing, each with the reason.
    pub fn untried(&self) -> impl Iterator<Item = (&WhatIf, Untried)> {
        let says_nothing = |asked: &&WhatIf| {
            let place = self.options.what_if.iter().position(|known| known.is_named_like(asked));
            !place.and_then(|at| self.what_ifs.get(at)).is_some_and(Tried::says_something)
        };
        self.view.what_ifs.iter().filter(says_nothing).map(|asked| (asked, self.reason(asked)))
    }

    fn reason(&self, asked: &WhatIf) -> Untried {
        let is_priced = |model| self.options.book.rates(&ModelKey::from(model), &Terms::default()).is_ok();
        let is_foreign = self.unseen.not_modelled == self.tally.counted;
        match asked.model {
            Some(model) if !is_priced(model) => Untried::NoPrice,
            _ if asked.needs_cache() && self.span().is_some() => Untried::NoCache,
            _ if asked.needs_cache() || !is_foreign => Untried::NoInstants,
            _ => Untried::NothingPriced,
        }
    }
}
