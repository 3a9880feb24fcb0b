//! Whose requests are: the chain of each, and what the first request of a chain goes on from (`design.md` 3, *Chain*).

use std::collections::BTreeMap;

use super::kin::{Kin, Kinship, Relative, Sender};
use super::lanes::Lanes;
use super::sent::Facts;
use crate::wire::{ChainId, Request, Wire};

/// Whose a request is.
#[derive(Clone, Debug)]
pub struct Whose<T> {
    /// Its chain, numbered over all scopes in order of first requests.
    pub chain: ChainId,
    /// It is the chain's first.
    pub first: bool,
    /// The chain's request before; for a fork's first request its parent's.
    pub previous: Option<T>,
}

/// Decides whose requests are, one after the other, all read into one wire.
#[derive(Clone, Debug)]
pub struct Identity<T> {
    lanes: Lanes,
    kin: Kin<T>,
    latest: BTreeMap<ChainId, Recent<T>>,
    requests: usize,
}

/// A chain's last request and the one before; for a chain that branched off, the one that it branched off from.
#[derive(Clone, Debug)]
struct Recent<T> {
    last: T,
    before: Option<T>,
}

impl<T> Default for Identity<T> {
    fn default() -> Self {
        Self { lanes: Lanes::default(), kin: Kin::default(), latest: BTreeMap::new(), requests: 0 }
    }
}

impl<T: Relative> Identity<T> {
    /// Takes the next request, which `relative` keeps.
    pub fn take(
        &mut self,
        wire: &Wire,
        request: &Request,
        facts: &Facts<'_>,
        relative: impl FnOnce(Sender) -> T,
    ) -> Whose<T> {
        let latest = |chain: ChainId| {
            let recent = self.latest.get(&chain)?;
            Some((recent.last.request(), recent.before.as_ref().map(T::request)))
        };
        let lane = self.lanes.assign(wire, (self.requests, request), facts, latest);
        let member = relative(Sender::new(self.requests, lane.chain, facts));
        self.requests += 1;
        let before = match lane.branches_off {
            Some(chain) => self.latest.get(&chain).and_then(|recent| recent.before.clone()),
            None => self.latest.remove(&lane.chain).map(|recent| recent.last),
        };
        let previous = if lane.first { self.parent(wire, &member) } else { before.clone() };
        self.latest.insert(lane.chain, Recent { last: member, before });
        Whose { chain: lane.chain, first: lane.first, previous }
    }

    fn parent(&mut self, wire: &Wire, newer: &T) -> Option<T> {
        let open = self.latest.values().flat_map(|recent| std::iter::once(&recent.last).chain(&recent.before));
        match self.kin.meet(wire, newer, open) {
            Kinship::Fork { parent, .. } => Some(parent),
            Kinship::Brief(_) | Kinship::New => None,
        }
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.lanes.len()
    }
}
