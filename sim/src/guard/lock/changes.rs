//! The changes of a lock by an update, and their cost.

use std::fmt;

use super::matching::{self, Match};
use super::outline::Outlines;
use super::{Chain, Lock, Locked};
use crate::diagnosis::{Cause, Difference, appended, compare};
use crate::guard::Rules;
use crate::outside::quoted;
use crate::pricing::Money;
use crate::wire::{Level, Usage};

/// Everything that differs between two locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Chain by chain, request by request.
    pub changes: Vec<Change>,
    /// Expected cost of all requests of the older lock.
    pub cost_before: Option<Money>,
    /// The same for the newer lock.
    pub cost_after: Option<Money>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A chain was added.
    ChainAdded {
        /// Its name.
        chain: String,
        /// Number of its requests.
        requests: usize,
        /// Their cost.
        cost: Option<Money>,
    },
    /// A chain was removed.
    ChainRemoved {
        /// Its name.
        chain: String,
        /// Number of its requests.
        requests: usize,
        /// Their cost.
        cost: Option<Money>,
    },
    /// A request of a chain differs.
    Request {
        /// The chain.
        chain: String,
        /// Its place in the chain, counted from zero; if it was removed, in the older lock.
        position: usize,
        /// The changes in words; empty if only its usage changed.
        what: Vec<String>,
        /// Usage and cost before; `None` if it was added.
        before: Option<(Usage, Option<Money>)>,
        /// Usage and cost now; `None` if it was removed.
        after: Option<(Usage, Option<Money>)>,
    },
}

/// The differences between `old` and `new`.
pub fn changes(old: &Lock, new: &Lock) -> Changes {
    let mut found = Changes { changes: Vec::new(), cost_before: old.cost(), cost_after: new.cost() };
    for Match { old: before, new: after } in matching::chains(old, new) {
        match (before, after) {
            (Some(before), Some(after)) => Locks { old, new }.requests(before, after, &mut found.changes),
            (Some(chain), None) => found.changes.push(Change::ChainRemoved {
                chain: chain.name.clone(),
                requests: chain.requests.len(),
                cost: chain.cost(),
            }),
            (None, Some(chain)) => found.changes.push(Change::ChainAdded {
                chain: chain.name.clone(),
                requests: chain.requests.len(),
                cost: chain.cost(),
            }),
            (None, None) => {}
        }
    }
    found
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Change {
    /// The chain that changed.
    pub fn chain(&self) -> &str {
        match self {
            Self::ChainAdded { chain, .. } | Self::ChainRemoved { chain, .. } | Self::Request { chain, .. } => chain,
        }
    }
}

/// Two locks compared.
struct Locks<'a> {
    old: &'a Lock,
    new: &'a Lock,
}

impl Locks<'_> {
    fn requests(&self, before: &Chain, after: &Chain, found: &mut Vec<Change>) {
        let (mut old_at, mut new_at) = (0, 0);
        for Match { old: was, new: is } in matching::requests(before, after, &Level::ALL) {
            let what = match (was, is) {
                (Some(was), Some(is)) => self.differences(was, is),
                _ => Vec::new(),
            };
            let outcome = |request: &Locked| (request.usage, request.cost);
            let same = was.zip(is).is_some_and(|(was, is)| outcome(was) == outcome(is));
            if !same || !what.is_empty() {
                found.push(Change::Request {
                    chain: after.name.clone(),
                    position: if is.is_some() { new_at } else { old_at },
                    what,
                    before: was.map(outcome),
                    after: is.map(outcome),
                });
            }
            (old_at, new_at) = (old_at + usize::from(was.is_some()), new_at + usize::from(is.is_some()));
        }
    }

    fn differences(&self, was: &Locked, is: &Locked) -> Vec<String> {
        let mut what = Vec::new();
        if was.model != is.model {
            what.push(format!("{} {}: {}", Cause::ModelChanged, quoted(&was.model), quoted(&is.model)));
        }
        if !was.is_same(is, &Level::ALL) {
            let mut outlines = Outlines::default();
            let rules = Rules::default();
            let [before, after] =
                [(self.old, was), (self.new, is)].map(|(lock, locked)| outlines.read(lock, locked, is, &rules).request);
            let comparison = compare(&outlines.wire, &before, &after);
            let appended = appended(&outlines.wire, &before, &after, &comparison);
            let told = |found: &Difference| format!("{} {}: {}", found.cause, found.path, found.name);
            let differences = comparison.differences.iter().filter(|found| found.cause != Cause::ModelChanged);
            what.extend(differences.chain(&appended).map(told));
        }
        if was.breakpoints != is.breakpoints {
            let list = |request: &Locked| {
                let shown: Vec<String> = request
                    .breakpoints
                    .iter()
                    .map(|found| format!("{} {}", is.sent_at(&found.path), found.ttl))
                    .collect();
                if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
            };
            what.push(format!("breakpoints: {} became {}", list(was), list(is)));
        }
        what
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChainAdded { chain, requests, cost } => {
                write!(f, "+ chain {chain}: {requests} requests, {}", money(*cost))
            }
            Self::ChainRemoved { chain, requests, cost } => {
                write!(f, "- chain {chain}: {requests} requests, {}", money(*cost))
            }
            Self::Request { chain, position, what, before, after } => {
                let sign = match (before, after) {
                    (None, _) => '+',
                    (_, None) => '-',
                    _ => '~',
                };
                write!(f, "{sign} chain {chain}, request {position}: {}", spent(*before, *after))?;
                what.iter().try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}

type Outcome = Option<(Usage, Option<Money>)>;

fn spent(before: Outcome, after: Outcome) -> String {
    let shown = |(usage, cost): (Usage, Option<Money>)| {
        let (total, read) = (usage.total_input_tokens(), usage.cache_read_input_tokens);
        format!("{total} tokens, {read} read, {}", money(cost))
    };
    match (before, after) {
        (Some(before), Some(after)) if before == after => format!("{}, as before", shown(after)),
        (Some(before), Some(after)) => format!("{} (before: {})", shown(after), shown(before)),
        (Some(only), None) | (None, Some(only)) => shown(only),
        (None, None) => String::new(),
    }
}

fn money(cost: Option<Money>) -> String {
    cost.map_or_else(|| "no price".to_owned(), Money::human)
}
