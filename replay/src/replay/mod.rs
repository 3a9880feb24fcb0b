//! Recorded requests through the cache, the price book and the diagnosis: the ledger of what happened.

mod counted;
mod exchanged;
mod implied;
pub mod inspect;
mod known;
mod passes;
mod price;
pub(crate) mod reading;
mod run;
pub(crate) mod session;
mod sessions;
mod sized;
mod supposed;
mod traced;

use std::collections::BTreeMap;

use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Date, Money, PriceBook};

use crate::agreement::{Compared, NotComparable};
use crate::exchange::Origin;
use crate::input::{Inputs, Unreadable};
use crate::rebuild::profile::RuleSet;
use crate::what_if::{Hypothetical, WhatIf};

pub use counted::{CountedSize, SizeSource, Sizing};
pub use passes::{InParts, Passes};
pub use session::Evidence;

/// How to replay.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Cache rules; `None` takes the preset that fits the date of each recording.
    pub rules: Option<Rules>,
    /// Prices.
    pub book: PriceBook,
    /// Day whose prices hold; `None` takes the day of each request.
    pub prices_of: Option<Date>,
    /// Where sizes of prefixes come from.
    pub sizing: Sizing,
    /// What else the requests might have been: a hypothetical for each, in this order.
    pub what_if: Vec<WhatIf>,
    /// Habits of clients that the forecast leaves out, to measure what each is worth.
    pub left_out: RuleSet,
}

/// Where a request of a transcript stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Index among [`Inputs::sessions`].
    pub session: usize,
    /// Index among the session's agents.
    pub agent: usize,
    /// Index among the items of the agent's thread: an answer.
    pub item: usize,
}

/// What a replay gives: the ledger and, in step with it, how each request compares with its recording.
#[derive(Debug, Default)]
pub struct Replay {
    /// A line per request, in order of time within each stream.
    pub lines: Vec<Line>,
    /// In step with `lines`.
    pub comparisons: Vec<Result<Compared, NotComparable>>,
    /// In step with `lines`: where the request was recorded.
    pub origins: Vec<Origin>,
    /// In step with `lines`: the cache that served it and the chain within it, numbered over all streams.
    pub chains: Vec<Option<usize>>,
    /// Ids of chains, by the numbers in `chains`, where a trace gives them.
    pub chain_ids: BTreeMap<usize, String>,
    /// In step with `lines`: where in [`Inputs::sessions`] the request stands; `None` for recorded exchanges.
    pub asked: Vec<Option<Asked>>,
    /// In step with `lines`: the line of a transcript that shows why it missed; `None` for recorded exchanges, whose
    /// explanation has the differences.
    pub evidence: Vec<Option<Evidence>>,
    /// In step with `lines`: what misses that no rule foresees may add to the forecast's cost, from and to (a 90 % interval of
    /// their hazard); never inside predicted tokens. `None` where nothing was forecast or nothing has a price.
    pub residuals: Vec<Option<(Money, Money)>>,
    /// In step with `lines`: what the request would have been under each what-if that was asked for, in their order; empty where
    /// nothing was asked or no profile exists.
    pub hypotheticals: Vec<Vec<Hypothetical>>,
    /// In step with `lines`: its share of the clairvoyant lower bound; `None` where none is known.
    pub lower_bounds: Vec<Option<Money>>,
    /// In step with `lines`: the whole prompt as counted, where that was asked for and the body is a request.
    pub counted: Vec<Option<CountedSize>>,
    /// Names of the cache rules used, in order of first use.
    pub rules: Vec<&'static str>,
    /// Bodies that are no requests.
    pub unreadable: Vec<Unreadable>,
    /// Models without a price, each once.
    pub unpriced: Vec<String>,
    /// The replay was stopped before its end: the rest of the input has no lines.
    pub partial: bool,
}

/// Replays everything. All of it is in memory then: many sessions are better gone through by [`Passes`].
pub fn replay(inputs: &Inputs, options: &Options) -> Replay {
    replay_until(inputs, options, &|| false)
}

/// Replays until `stop` says so, which is asked before each request; what was computed stays, marked partial.
pub fn replay_until(inputs: &Inputs, options: &Options, stop: &dyn Fn() -> bool) -> Replay {
    Passes::new(inputs, options, stop).whole()
}
