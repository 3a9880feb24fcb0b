//! Identity of requests: the chain of each, and the request that the first one of a chain continues (`design.md` 3,
//! *Chain*).
//!
//! * [`lanes`]: the chain of a request. Without ids: [`retelling`], [`replacement`].
//! * [`kin`]: the earlier request to which the first one of a chain is related.
//! * [`resemblance`]: how much two prompts have in common.

mod kin;
mod lanes;
mod replacement;
mod resemblance;
mod retelling;

use kin::Kin;
pub use kin::{Kinship, Relative, Sender, Sibling};
pub use lanes::Lane;
use lanes::Lanes;

use super::sent::Facts;
use crate::wire::{ChainId, Request, Wire};

/// Identity of a request.
#[derive(Clone, Debug)]
pub struct Whose<T> {
    /// Its chain.
    pub lane: Lane,
    /// The chain's previous request; for a fork's first request its parent's.
    pub previous: Option<T>,
    /// Its relation to earlier requests; for a chain's first request only.
    pub kinship: Kinship<T>,
    /// The chain whose history it is the first to continue, though that chain had continued on its own.
    pub behind: Option<ChainId>,
}

impl<T: Relative> Whose<T> {
    /// The chain that its chain continues, for the first request of a fork.
    pub fn parent(&self) -> Option<ChainId> {
        match &self.kinship {
            Kinship::Fork { parent, .. } => Some(parent.sender().chain),
            _ => self.lane.branches_off,
        }
    }
}

/// Identifies requests, one after the other, all read into one wire.
#[derive(Clone, Debug)]
pub struct Identity<T> {
    lanes: Lanes,
    kin: Kin<T>,
    latest: Ends<T>,
    requests: usize,
}

/// The end of a chain.
#[derive(Clone, Debug)]
pub struct Recent<T> {
    /// Its last request.
    pub last: T,
    /// The previous one; for a chain that branched off, the one that it branched off from.
    pub before: Option<T>,
    /// The request that it branched off from, if it did.
    pub origin: Option<T>,
}

/// The ends of all chains, by their numbers.
#[derive(Clone, Debug)]
struct Ends<T>(Vec<Option<Recent<T>>>);

impl<T> Ends<T> {
    fn get(&self, chain: ChainId) -> Option<&Recent<T>> {
        self.0.get(chain.0 as usize)?.as_ref()
    }

    fn remove(&mut self, chain: ChainId) -> Option<Recent<T>> {
        self.0.get_mut(chain.0 as usize)?.take()
    }

    fn insert(&mut self, chain: ChainId, recent: Recent<T>) {
        let at = chain.0 as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(recent);
    }

    fn iter(&self) -> impl Iterator<Item = &Recent<T>> {
        self.0.iter().flatten()
    }
}

impl<T> Default for Identity<T> {
    fn default() -> Self {
        Self { lanes: Lanes::default(), kin: Kin::default(), latest: Ends(Vec::new()), requests: 0 }
    }
}

impl<T> Recent<T> {
    /// Both, the last first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.last).chain(&self.before)
    }
}

impl<T: Relative> Identity<T> {
    /// Takes the next request, sent by `relative`.
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
        let [before, origin] = match lane.branches_off {
            Some(chain) => {
                let recent = self.latest.get(chain);
                let origin = recent.and_then(|recent| lanes::branched_from(wire, request, recent));
                [origin.cloned(), origin.cloned()]
            }
            None => match self.latest.remove(lane.chain) {
                Some(recent) => [Some(recent.last), recent.origin],
                None => [None, None],
            },
        };
        let kinship = match lane.first {
            true => self.kin.meet(wire, &newer, self.latest.iter().flat_map(Recent::iter)),
            false => Kinship::New,
        };
        let behind = self.behind(&kinship, newer.request());
        let previous = match &kinship {
            Kinship::Fork { parent, .. } => Some(parent.clone()),
            _ => before.clone().filter(|_| !lane.first),
        };
        self.latest.insert(lane.chain, Recent { last: newer, before, origin });
        Whose { lane, previous, kinship, behind }
    }

    /// If a fork has the answer with which its parent continued too, that answer called it.
    fn behind(&self, kinship: &Kinship<T>, newer: &Request) -> Option<ChainId> {
        let Kinship::Fork { parent, eldest: None, .. } = kinship else { return None };
        let chain = parent.sender().chain;
        let last = &self.latest.get(chain)?.last;
        let end = parent.request().nodes.len();
        let goes_on_alike = last.request().nodes.get(end) == newer.nodes.get(end);
        (last.sender().index > parent.sender().index && !goes_on_alike).then_some(chain)
    }

    /// The end of a chain.
    pub fn recent(&self, chain: ChainId) -> Option<&Recent<T>> {
        self.latest.get(chain)
    }

    /// The number of requests taken so far.
    pub const fn requests(&self) -> usize {
        self.requests
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.names().len()
    }

    /// The names of all chains, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        self.lanes.names()
    }

    /// Warnings about uncertain chains, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.lanes.warnings()
    }

    /// Passes each request that later ones are compared with to `renew`.
    pub fn for_each_mut(&mut self, mut renew: impl FnMut(&mut T)) {
        for recent in self.latest.0.iter_mut().flatten() {
            recent.before.iter_mut().chain(&mut recent.origin).for_each(&mut renew);
            renew(&mut recent.last);
        }
        self.kin.for_each_mut(renew);
    }
}
