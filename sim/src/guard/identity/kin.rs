//! Kin: which earlier request the first one of a chain is akin to.
//!
//! Ids decide where the input has them. Else a fork is known by its history: what its parent had been told, and then
//! something of its own. An agent that got a brief of its own shares tools and system prompt with others of its kind.
//! A family is what one request of a parent, or one kind of brief, brought forth; of each the first member is kept.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use super::lanes::Lane;
use super::resemblance::{History, is_of_kind, resembles};
use crate::diagnosis::{align, blocks};
use crate::guard::Facts;
use crate::wire::{BlockKind, ChainId, Level, NodeId, Place, Request, Role, Wire, shared_nodes};

/// Whose request it is.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Its position among all requests.
    pub index: usize,
    /// Its chain.
    pub chain: ChainId,
    /// What that is called in reports.
    pub name: String,
    /// What the input calls its chain, where it does.
    called: Option<String>,
    /// The chain that called it, where the input says so.
    pub parent: Option<String>,
    /// What it goes on from, by its position, where the input says so.
    continues: Option<usize>,
    /// Who may share a cache with it.
    pub scope: String,
    /// Whoever called it called the others of this scope too.
    siblings: bool,
}

impl Sender {
    /// Who sent request `index`, which belongs to `lane`.
    pub fn new(index: usize, lane: &Lane, facts: &Facts<'_>) -> Self {
        let [called, parent] = [facts.chain, facts.parent].map(|name| name.map(str::to_owned));
        Self {
            index,
            chain: lane.chain,
            name: lane.name.clone(),
            called,
            parent,
            continues: facts.continues,
            scope: facts.scope.to_owned(),
            siblings: facts.siblings,
        }
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
}

/// A request that others may be akin to.
pub trait Relative: Clone {
    /// The request.
    fn request(&self) -> &Request;
    /// Whose it is.
    fn sender(&self) -> &Sender;
}

/// What a chain's first request is to the earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kinship<T> {
    /// It goes on from a request of another chain.
    Fork {
        /// What it goes on from.
        parent: T,
        /// Blocks of that, from the first, that it has to share where a breakpoint covers them.
        until: usize,
        /// What its siblings share beyond that.
        sibling: Option<Sibling<T>>,
        /// The first that went on from there, and the block from which on it is not its parent's; `None` for that itself.
        eldest: Option<(T, usize)>,
    },
    /// It has a brief of its own, and others of its kind were before it.
    Brief(Sibling<T>),
    /// It is the first of its kind.
    New,
}

/// An earlier sibling, and what a later one has to share with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling<T> {
    /// The family's first request.
    pub first: T,
    /// Blocks of it that a later one has to share.
    pub shared: Range<usize>,
}

/// What one request, or one kind of brief, brought forth.
#[derive(Clone, Debug)]
struct Family<T> {
    /// What its members go on from; `None` where they have briefs of their own.
    parent: Option<T>,
    first: T,
    /// From where on blocks of the first are no longer its parent's.
    own_from: usize,
    /// How many leading blocks the first two share; `None` until there are two.
    shared: Option<usize>,
}

/// The families of an input.
#[derive(Clone, Debug)]
pub struct Kin<T> {
    families: VecDeque<Family<T>>,
}

/// Families that are remembered. Each holds at most two requests beside those of its chains; a child that comes later than
/// so many other fan-outs is compared with its parent alone.
const FAMILIES_MAX: usize = 32;

/// Messages that a fork adds at its beginning: the parent's answer, and what tells the fork what to do.
const OWN_MESSAGES: usize = 2;

impl<T> Default for Kin<T> {
    fn default() -> Self {
        Self { families: VecDeque::new() }
    }
}

impl<T: Relative> Kin<T> {
    /// What `newer`, the first request of its chain, is to the earlier ones, and takes it into its family. `open` are
    /// the latest requests of all other chains.
    pub fn meet<'a>(&mut self, wire: &Wire, newer: &T, open: impl Iterator<Item = &'a T>) -> Kinship<T>
    where
        T: 'a,
    {
        let mut known: Vec<&T> = self.families.iter().filter_map(|family| family.parent.as_ref()).collect();
        open.for_each(|older| known.push(older));
        match origin(wire, newer, known).map(|(parent, until)| (parent.clone(), until)) {
            Some((parent, until)) => self.fork(wire, newer, parent, until),
            None => self.brief(wire, newer),
        }
    }

    /// Gives each request that families hold to `renew`.
    pub fn for_each_mut(&mut self, mut renew: impl FnMut(&mut T)) {
        for family in &mut self.families {
            family.parent.iter_mut().for_each(&mut renew);
            renew(&mut family.first);
        }
    }

    fn fork(&mut self, wire: &Wire, newer: &T, parent: T, until: usize) -> Kinship<T> {
        let is_theirs = |family: &&mut Family<T>| {
            family.parent.as_ref().is_some_and(|known| known.sender().index == parent.sender().index)
        };
        let known = self.families.iter_mut().find(is_theirs);
        let eldest = known.as_ref().map(|family| (family.first.clone(), family.own_from));
        let sibling = match known {
            Some(family) => {
                let end = family.shared.unwrap_or_default();
                family
                    .shared
                    .get_or_insert_with(|| shared_nodes(&family.first.request().nodes, &newer.request().nodes));
                let shared = family.own_from..end;
                (!shared.is_empty()).then(|| Sibling { first: family.first.clone(), shared })
            }
            None => {
                let own_from = inherited(wire, parent.request(), newer.request());
                self.found(Family { parent: Some(parent.clone()), first: newer.clone(), own_from, shared: None });
                None
            }
        };
        Kinship::Fork { parent, until, sibling, eldest }
    }

    fn brief(&mut self, wire: &Wire, newer: &T) -> Kinship<T> {
        // Conversations with ids that nobody called are each their own.
        let sender = newer.sender();
        if sender.called.is_some() && sender.parent().is_none() && !sender.siblings {
            return Kinship::New;
        }
        let kind = |family: &&mut Family<T>| {
            let first = family.first.request();
            let is_known = family.shared.is_some_and(|shared| shared >= first.level_start(Level::Messages));
            family.parent.is_none()
                && may_share(&family.first, newer)
                && is_of_kind(wire, first, newer.request(), is_known)
        };
        let Some(family) = self.families.iter_mut().find(kind) else {
            self.found(Family { parent: None, first: newer.clone(), own_from: 0, shared: None });
            return Kinship::New;
        };
        let first = family.first.request();
        // Of children of one parent it is known that they are of one kind; of others only if two of them were before.
        let known = if newer.sender().parent().is_some() { first.level_start(Level::Messages) } else { 0 };
        let end = family.shared.map_or(known, |shared| shared.max(known));
        let directive = directive(wire, first).min(directive(wire, newer.request()));
        family.shared.get_or_insert_with(|| shared_nodes(&first.nodes, &newer.request().nodes).min(directive));
        Kinship::Brief(Sibling { first: family.first.clone(), shared: 0..end })
    }

    fn found(&mut self, family: Family<T>) {
        if self.families.len() == FAMILIES_MAX {
            self.families.pop_front();
        }
        self.families.push_back(family);
    }
}

/// Whether two agents were called by the same one, and may read from one cache.
fn may_share<T: Relative>(older: &T, newer: &T) -> bool {
    older.sender().scope == newer.sender().scope
        && older.sender().parent() == newer.sender().parent()
        && older.request().root == newer.request().root
}

/// What `newer` goes on from among `known`, and how many of its leading blocks `newer` has to share.
fn origin<'a, T: Relative>(wire: &Wire, newer: &T, mut known: Vec<&'a T>) -> Option<(&'a T, usize)> {
    let is_named = |older: &&T| newer.sender().continues == Some(older.sender().index);
    if let Some(older) = known.iter().copied().find(is_named) {
        return Some((older, shared_until(wire, older, newer, is_continued(older.request(), newer.request()))));
    }
    // A name means the chain of its own scope; another scope's may merely be called alike, so there history decides.
    let may_be = |older: &&T| {
        older.sender().chain != newer.sender().chain
            && match newer.sender().parent() {
                Some(parent) => older.sender().called.as_deref() == Some(parent),
                None => older.sender().scope == newer.sender().scope,
            }
    };
    known.retain(may_be);
    let whole = known.iter().filter(|older| is_continued(older.request(), newer.request()));
    // The latest of equals: a chain that repeats a request goes on from the repetition.
    let whole = whole.max_by_key(|older| (older.request().nodes.len(), older.sender().index));
    let own = History::of(wire, newer.request());
    if let Some(older) = whole {
        let latest = known
            .iter()
            .filter(|later| goes_on_from(wire, [*older, **later], newer, &own))
            .max_by_key(|it| it.sender().index);
        let parent = latest.unwrap_or(older);
        return Some((parent, parent.request().nodes.len()));
    }
    if own.messages <= OWN_MESSAGES {
        return None;
    }
    let shared = |older: &T| {
        let history = History::of(wire, older.request());
        let shared = history.shared(&own);
        let is_called = newer.sender().parent().is_some() && newer.sender().scope == older.sender().scope;
        let is_shaped =
            own.messages == history.messages + OWN_MESSAGES && resembles(wire, older.request(), newer.request());
        let is_whole = shared.holds_last && (is_called || shared.most) || is_called && is_shaped;
        (is_whole || is_called && shared.most).then_some((is_whole, shared.blocks, Reverse(history.len())))
    };
    let akin = known.into_iter().filter_map(|older| Some((shared(older)?, older)));
    let ((is_whole, ..), older) = akin.max_by_key(|(shared, _)| *shared)?;
    Some((older, shared_until(wire, older, newer, is_whole)))
}

/// How many leading blocks of `older` the one that goes on from it has to share.
fn shared_until<T: Relative>(wire: &Wire, older: &T, newer: &T, is_whole: bool) -> usize {
    if is_whole { older.request().nodes.len() } else { branch(wire, older.request(), newer.request()) }
}

/// Whether `newer`, which holds the whole of `older`, goes on from a later request of the same chain, some of which it
/// changed: it is longer than that, holds more of it than `older` did, and its messages there have as many blocks. Where a
/// fork's answers to its parent's calls stand, its directive stands too.
fn goes_on_from<T: Relative>(wire: &Wire, [older, later]: [&T; 2], newer: &T, own: &History) -> bool {
    let (before, after) = (History::of(wire, older.request()), History::of(wire, later.request()));
    let is_later = later.sender().chain == older.sender().chain && later.sender().index > older.sender().index;
    let blocks = |request: &Request, item: usize| {
        request.places.iter().filter(|place| place.level == Level::Messages && place.item as usize == item).count()
    };
    is_later
        && own.messages > after.messages
        && after.shared(own).blocks > before.len()
        && (before.messages..after.messages).all(|item| blocks(later.request(), item) == blocks(newer.request(), item))
}

/// Whether `newer` begins with the whole of `older`.
fn is_continued(older: &Request, newer: &Request) -> bool {
    let end = older.nodes.len();
    older.root == newer.root && end > 0 && newer.nodes.get(end - 1) == older.nodes.last() && newer.nodes.len() > end
}

/// Where `newer` left the path of `older`, which had gone on meanwhile: blocks of `older` before that. What `newer` was
/// made of is not there any more, so only what stands before its own messages is known to be meant for sharing.
fn branch(wire: &Wire, older: &Request, newer: &Request) -> usize {
    let (old, new) = (blocks(older, &wire.prefixes), blocks(newer, &wire.prefixes));
    let last = newer.places.last().map_or(0, |place| place.item as usize);
    let is_own = |place: &Place| {
        place.level == Level::Messages && place.item != Place::LEVEL_HEAD && place.item as usize + OWN_MESSAGES > last
    };
    let own = newer.places.iter().position(is_own).unwrap_or(new.len());
    align(&old, &new).partner[..own].iter().flatten().max().map_or(0, |at| at + 1)
}

/// Blocks of `newer` up to the last one that it has of `older`.
fn inherited(wire: &Wire, older: &Request, newer: &Request) -> usize {
    let alignment = align(&blocks(older, &wire.prefixes), &blocks(newer, &wire.prefixes));
    alignment.partner.iter().rposition(Option::is_some).map_or(0, |at| at + 1)
}

/// Where an agent is told what is its own alone: the last text that a user says in its first request.
fn directive(wire: &Wire, request: &Request) -> usize {
    let is_users = |node: &NodeId| {
        let block = wire.prefixes.block(*node);
        block.is_some_and(|block| wire.blocks.role(block) == Role::User && wire.blocks.kind(block) == BlockKind::Text)
    };
    request.nodes.iter().rposition(is_users).unwrap_or(request.nodes.len())
}
