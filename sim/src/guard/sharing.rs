//! Rule (b): what a chain's first request has to share, and with whom.
//!
//! A fork shares with its parent's request all that the breakpoints of that cover, and with its siblings what these shared
//! beyond it. Agents with briefs of their own share tools and system prompt with others of their kind, and what else of
//! their first message these had in common. What each is told alone is nobody's.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::kin::{Kin, Kinship, Relative, Sender};
use super::lanes::Lane;
use super::sent::Facts;
use crate::diagnosis::{Cause, Difference, Subject};
use crate::wire::{ChainId, Request, Wire};

/// A request and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Member {
    taken: Subject,
    sender: Sender,
}

impl Member {
    /// The request.
    pub const fn taken(&self) -> &Subject {
        &self.taken
    }
}

/// Which differences to an older request count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Within {
    /// Blocks of the older request that have to be kept.
    blocks: Range<usize>,
    /// Model and parameters have to be kept too.
    settings: bool,
}

impl Within {
    /// Whether its breakpoints have to reach what the older request left in the cache.
    pub fn asks_breakpoints(&self, older: &Subject) -> bool {
        self.settings && self.blocks.start == 0 && self.blocks.end >= older.covered()
    }

    /// Whether a difference counts. What does not is the newer request's own, and stays as it is.
    pub fn concerns(&self, found: &Difference) -> bool {
        match found.cause {
            Cause::ModelChanged | Cause::LevelParameter => self.settings,
            _ => self.blocks.contains(&found.old_index),
        }
    }
}

/// A request that a first one is held against.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The older request.
    pub older: Arc<Member>,
    /// What of it has to be shared.
    pub within: Within,
}

/// What ties a chain's first request to earlier ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Ties {
    /// What it is held against.
    pub demands: Vec<Demand>,
    /// The chain from whose history it is the first to go on, though that had gone on before.
    pub behind: Option<ChainId>,
}

/// Who may be kin to a later chain: the last two requests of each chain, and the families.
#[derive(Clone, Debug, Default)]
pub(super) struct Kindred {
    latest: BTreeMap<ChainId, (Arc<Member>, Option<Arc<Member>>)>,
    kin: Kin<Arc<Member>>,
}

impl Kindred {
    /// Takes a request; of a chain's first, what ties it to others.
    pub fn take(&mut self, wire: &Wire, taken: &Subject, lane: &Lane, facts: &Facts<'_>) -> Ties {
        let member = Arc::new(Member { taken: taken.clone(), sender: Sender::new(taken.number, lane.chain, facts) });
        if let Some((last, before)) = self.latest.get_mut(&lane.chain) {
            *before = Some(std::mem::replace(last, member));
            return Ties::default();
        }
        let open = self.latest.values().flat_map(|(last, before)| std::iter::once(last).chain(before));
        let kinship = self.kin.meet(wire, &member, open);
        let behind = self.behind(&kinship, &member.taken.request);
        self.latest.insert(lane.chain, (member, None));
        Ties { demands: demands(kinship), behind }
    }

    /// A fork that has the answer with which its parent went on too was called by that answer.
    fn behind(&self, kinship: &Kinship<Arc<Member>>, newer: &Request) -> Option<ChainId> {
        let Kinship::Fork { parent, eldest: None, .. } = kinship else { return None };
        let (last, _) = self.latest.get(&parent.sender.chain)?;
        let end = parent.request().nodes.len();
        let goes_on_alike = last.request().nodes.get(end) == newer.nodes.get(end);
        (last.sender.index > parent.sender.index && !goes_on_alike).then_some(parent.sender.chain)
    }

    /// Puts what `again` makes of each request in its place: the same in a fresh wire.
    pub fn renew(&mut self, mut again: impl FnMut(&Subject, &str) -> Subject) {
        let mut renew = |member: &mut Arc<Member>| {
            let taken = again(&member.taken, &member.sender.scope);
            *member = Arc::new(Member { taken, ..Member::clone(member) });
        };
        for (last, before) in self.latest.values_mut() {
            before.iter_mut().for_each(&mut renew);
            renew(last);
        }
        self.kin.for_each_mut(renew);
    }
}

/// What a kinship asks for.
fn demands(kinship: Kinship<Arc<Member>>) -> Vec<Demand> {
    match kinship {
        Kinship::Fork { parent, until, sibling, .. } => {
            let inherited = Demand { older: parent, within: Within { blocks: 0..until, settings: true } };
            let beyond = sibling.map(|sibling| Demand {
                older: sibling.first,
                within: Within { blocks: sibling.shared, settings: false },
            });
            std::iter::once(inherited).chain(beyond).collect()
        }
        Kinship::Brief(sibling) => {
            let within = Within { blocks: sibling.shared, settings: false };
            vec![Demand { older: sibling.first, within }]
        }
        Kinship::New => Vec::new(),
    }
}

impl Relative for Arc<Member> {
    fn request(&self) -> &Request {
        &self.taken.request
    }

    fn sender(&self) -> &Sender {
        &self.sender
    }
}
