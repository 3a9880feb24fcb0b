//! Recorded requests through the cache, the price book and the diagnosis: the ledger of what happened.

mod contents;
mod counting;
mod hypotheticals;
pub mod inspect;
mod passes;
mod predecessor;
mod run;
pub(crate) mod session;
mod sessions;
mod sizes;
mod traces;
mod what_ifs;

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Date, PriceBook};
use forkcast_sim::service::{Entry, Tariff};

use crate::input::{Inputs, Unreadable};
use crate::rebuild::forecast::Decision;
use crate::rebuild::profile::RuleSet;
use crate::transcript::Session;
use crate::what_if::{Billed, Hypothetical, WhatIf};

pub use counting::{SizeSource, Sizing};
pub use passes::{InParts, Passes};
pub use sessions::SessionReplays;

/// How to replay.
///
/// ```
/// use forkcast_replay::input::Inputs;
/// use forkcast_replay::replay::{Options, replay};
///
/// let options = Options { what_if: vec!["ttl=1h".parse()?], ..Options::default() };
/// let replay = replay(&Inputs::sample(), &options);
/// assert!(replay.lines().all(|line| line.charge.bill.is_some()));
/// # Ok::<(), forkcast_replay::error::Error>(())
/// ```
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
    /// Whether each entry says what its prompt is made of.
    pub composes: bool,
    /// When the provider's account was created: some models treat thinking by it; `None` if that is unknown.
    pub account_created: Option<Date>,
    /// Habits of clients that the forecast leaves out, to measure what each is worth.
    pub left_out: RuleSet,
}

impl Options {
    /// The prices that hold.
    fn tariff(&self) -> Tariff<'_> {
        Tariff { book: &self.book, date: self.prices_of }
    }

    /// What a request would have been under each what-if, as far as no cache is needed to say so.
    fn without_cache(&self, billed: &Billed<'_>) -> Vec<Hypothetical> {
        billed.under(&self.what_if, &self.book)
    }
}

/// A chain of requests, with its name in every report.
#[derive(Clone, Debug)]
pub struct NamedChain {
    /// The input's own id, else its scope and its number there.
    pub id: String,
    /// It is a conversation of a trace that another one started.
    pub is_sub_agent: bool,
}

/// What a replay gives.
#[derive(Debug, Default)]
pub struct Replay {
    /// The requests, in order of time within each stream.
    pub entries: Vec<Entry>,
    /// Chains by their number over all streams; conversations of traces only if the trace gives an id.
    pub named_chains: BTreeMap<usize, NamedChain>,
    /// Names of the cache rules used, in order of first use.
    pub rules: Vec<&'static str>,
    /// Bodies that are no requests.
    pub unreadable: Vec<Unreadable>,
    /// The replay was stopped before its end: the rest of the input has no lines.
    pub partial: bool,
}

impl Replay {
    /// The lines of the ledger.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.entries.iter().map(|entry| &entry.line)
    }

    /// Models without a price, each once.
    pub fn unpriced(&self) -> BTreeSet<&str> {
        let is_unpriced = |line: &&Line| line.billed().is_some() && line.charge.bill.is_none();
        self.lines().filter(is_unpriced).map(|line| line.model.as_str()).collect()
    }

    /// These cache rules were used.
    fn used(&mut self, rules: &'static str) {
        if !self.rules.contains(&rules) {
            self.rules.push(rules);
        }
    }
}

/// What the forecast says of a request of a session.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    /// Index of the agent in the session.
    pub agent: usize,
    /// Index of the answer among the agent's items.
    pub item: usize,
    /// The decision; `None` for the first request of a conversation, which is taken as given.
    pub decision: Option<Decision>,
}

/// What the forecast says of each request of `session`, as far as it has a recorded usage and a model with a cache profile.
/// Only the session itself is known.
pub fn foresee(session: &Session, options: &Options) -> Vec<Foreseen> {
    session::foresee(session, options)
}

/// Replays everything. All of it is in memory then: many sessions are better gone through by [`Passes`].
///
/// ```
/// use forkcast_replay::input::Inputs;
/// use forkcast_replay::replay::{Options, replay};
///
/// let inputs = Inputs::sample();
/// let replay = replay(&inputs, &Options::default());
/// let missed = replay.lines().filter(|line| !line.charge.causes.is_empty());
/// assert!(missed.count() > 0);
/// ```
pub fn replay(inputs: &Inputs, options: &Options) -> Replay {
    replay_until(inputs, options, &|| false)
}

/// Replays until `stop` says so, which is asked before each request; finished results stay, marked partial.
pub fn replay_until(inputs: &Inputs, options: &Options, stop: &dyn Fn() -> bool) -> Replay {
    Passes::new(inputs, options, stop).whole()
}
