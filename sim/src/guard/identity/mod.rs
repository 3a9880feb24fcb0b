//! Whose requests are: the chain of each, and what the first request of a chain goes on from (`design.md` 3, *Chain*).
//!
//! * [`lanes`]: which chain a request belongs to. Where no id says so: [`retelling`], [`replacement`].
//! * [`kin`]: which earlier request the first one of a chain is akin to.
//! * [`resemblance`]: how much two prompts have in common.

mod kin;
mod lanes;
mod replacement;
mod resemblance;
mod retelling;

use std::collections::BTreeMap;

use kin::Kin;
pub use kin::{Kinship, Relative, Sender, Sibling};
pub use lanes::Lane;
use lanes::Lanes;

use super::sent::Facts;
use crate::wire::{ChainId, Request, Wire};

/// Whose a request is.
#[derive(Clone, Debug)]
pub struct Whose<T> {
    /// Its chain.
    pub lane: Lane,
    /// The chain's request before; for a fork's first request its parent's.
    pub previous: Option<T>,
    /// What it is to earlier requests; of a chain's first alone.
    pub kinship: Kinship<T>,
    /// The chain from whose history it is the first to go on, though that had gone on before.
    pub behind: Option<ChainId>,
}

/// Decides whose requests are, one after the other, all read into one wire.
#[derive(Clone, Debug)]
pub struct Identity<T> {
    lanes: Lanes,
    kin: Kin<T>,
    latest: BTreeMap<ChainId, Recent<T>>,
    requests: usize,
}

/// The end of a chain.
#[derive(Clone, Debug)]
pub struct Recent<T> {
    /// Its last request.
    pub last: T,
    /// The one before; for a chain that branched off, the one that it branched off from.
    pub before: Option<T>,
}

impl<T> Default for Identity<T> {
    fn default() -> Self {
        Self { lanes: Lanes::default(), kin: Kin::default(), latest: BTreeMap::new(), requests: 0 }
    }
}

impl<T> Recent<T> {
    /// Both, the last first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.last).chain(&self.before)
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
        let lane = self.lanes.assign(wire, request, self.requests, facts, &self.latest);
        let newer = relative(Sender::new(self.requests, &lane, facts));
        self.requests += 1;
        let before = match lane.branches_off {
            Some(chain) => self.latest.get(&chain).and_then(|recent| recent.before.clone()),
            None => self.latest.remove(&lane.chain).map(|recent| recent.last),
        };
        let kinship = match lane.first {
            true => self.kin.meet(wire, &newer, self.latest.values().flat_map(Recent::iter)),
            false => Kinship::New,
        };
        let behind = self.behind(&kinship, newer.request());
        let previous = match &kinship {
            Kinship::Fork { parent, .. } => Some(parent.clone()),
            _ => before.clone().filter(|_| !lane.first),
        };
        self.latest.insert(lane.chain, Recent { last: newer, before });
        Whose { lane, previous, kinship, behind }
    }

    /// A fork that has the answer with which its parent went on too was called by that answer.
    fn behind(&self, kinship: &Kinship<T>, newer: &Request) -> Option<ChainId> {
        let Kinship::Fork { parent, eldest: None, .. } = kinship else { return None };
        let chain = parent.sender().chain;
        let last = &self.latest.get(&chain)?.last;
        let end = parent.request().nodes.len();
        let goes_on_alike = last.request().nodes.get(end) == newer.nodes.get(end);
        (last.sender().index > parent.sender().index && !goes_on_alike).then_some(chain)
    }

    /// The end of a chain.
    pub fn recent(&self, chain: ChainId) -> Option<&Recent<T>> {
        self.latest.get(&chain)
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.lanes.len()
    }

    /// What makes chains less sure than they look, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.lanes.warnings()
    }

    /// Gives each request that later ones are compared with to `renew`.
    pub fn for_each_mut(&mut self, mut renew: impl FnMut(&mut T)) {
        for recent in self.latest.values_mut() {
            recent.before.iter_mut().for_each(&mut renew);
            renew(&mut recent.last);
        }
        self.kin.for_each_mut(renew);
    }
}
