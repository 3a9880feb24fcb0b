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
    let mut changes = Vec::new();
    for chain in compared(old, new) {
        changes.extend(chain.change);
        changes.extend(chain.requests.into_iter().filter_map(|request| request.change));
    }
    Changes { changes, cost_before: old.cost(), cost_after: new.cost() }
}

/// A chain in two locks.
pub(super) struct ComparedChain<'a> {
    /// Its sides.
    pub sides: Match<'a, Chain>,
    /// That it was added or removed.
    pub change: Option<Change>,
    /// Its requests in order, if both locks have it.
    pub requests: Vec<ComparedRequest<'a>>,
}

/// A request of a chain in two locks.
pub(super) struct ComparedRequest<'a> {
    /// Its sides.
    pub sides: Match<'a, Locked>,
    /// How it differs.
    pub change: Option<Change>,
}

/// Both locks, chain by chain and request by request.
pub(super) fn compared<'a>(old: &'a Lock, new: &'a Lock) -> Vec<ComparedChain<'a>> {
    let whole = |chain: &Chain| (chain.name.clone(), chain.requests.len(), chain.cost());
    let one = |sides: Match<'a, Chain>| {
        let (mut change, mut requests) = (None, Vec::new());
        match (sides.old, sides.new) {
            (Some(before), Some(after)) => requests = Locks { old, new }.requests(before, after),
            (Some(gone), None) => {
                let (chain, requests, cost) = whole(gone);
                change = Some(Change::ChainRemoved { chain, requests, cost });
            }
            (None, Some(added)) => {
                let (chain, requests, cost) = whole(added);
                change = Some(Change::ChainAdded { chain, requests, cost });
            }
            (None, None) => {}
        }
        ComparedChain { sides, change, requests }
    };
    matching::chains(old, new).into_iter().map(one).collect()
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes that a review decides on together: what differs in several requests of a chain in the same way is one.
    /// In the order of their first.
    pub fn together(&self) -> Vec<Vec<&Change>> {
        let mut groups: Vec<Vec<&Change>> = Vec::new();
        for change in &self.changes {
            match groups.iter_mut().find(|group| group[0].is_like(change)) {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
        groups
    }
}

impl Change {
    /// The chain that changed.
    pub fn chain(&self) -> &str {
        match self {
            Self::ChainAdded { chain, .. } | Self::ChainRemoved { chain, .. } | Self::Request { chain, .. } => chain,
        }
    }

    /// Its name in a review: the chain, or chain and request, as `main:2`. A removed request has its old number, as `main:-2`.
    pub fn name(&self) -> String {
        match self {
            Self::Request { chain, position, after: None, .. } => format!("{chain}:-{position}"),
            Self::Request { chain, position, .. } => format!("{chain}:{position}"),
            Self::ChainAdded { chain, .. } | Self::ChainRemoved { chain, .. } => chain.clone(),
        }
    }

    /// Whether another request of the same chain differs in the same way.
    fn is_like(&self, other: &Self) -> bool {
        let (
            Self::Request { chain, what, before, after, .. },
            Self::Request { chain: other_chain, what: other_what, before: other_before, after: other_after, .. },
        ) = (self, other)
        else {
            return false;
        };
        let same_sides = (before.is_some(), after.is_some()) == (other_before.is_some(), other_after.is_some());
        chain == other_chain && what == other_what && same_sides
    }
}

/// Two locks compared.
struct Locks<'a> {
    old: &'a Lock,
    new: &'a Lock,
}

impl<'a> Locks<'a> {
    fn requests(&self, before: &'a Chain, after: &'a Chain) -> Vec<ComparedRequest<'a>> {
        let (mut old_at, mut new_at) = (0, 0);
        let one = |sides: Match<'a, Locked>| {
            let what = match (sides.old, sides.new) {
                (Some(was), Some(is)) => self.differences(was, is),
                _ => Vec::new(),
            };
            let outcome = |request: &Locked| (request.usage, request.cost);
            let same = sides.old.zip(sides.new).is_some_and(|(was, is)| outcome(was) == outcome(is));
            let change = (!same || !what.is_empty()).then(|| Change::Request {
                chain: after.name.clone(),
                position: if sides.new.is_some() { new_at } else { old_at },
                what,
                before: sides.old.map(outcome),
                after: sides.new.map(outcome),
            });
            (old_at, new_at) = (old_at + usize::from(sides.old.is_some()), new_at + usize::from(sides.new.is_some()));
            ComparedRequest { sides, change }
        };
        matching::requests(before, after, &Level::ALL).into_iter().map(one).collect()
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
