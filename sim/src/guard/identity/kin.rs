//! Kin: which earlier request the first one of a chain is related to.
//!
//! Ids decide if the input has them. Else a fork is recognised by its history: its parent's messages, followed by its
//! own. An agent with a brief of its own shares tools and system prompt with others of its kind. A family consists of
//! the children of one request, or of the agents with one kind of brief; only its first member is kept.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use super::lanes::Lane;
use super::resemblance::{
    History, KnownSentences, hides_its_instructions, is_another_agent, is_equal_head, is_of_another_kind, is_of_kind,
    is_retold, resembles, resembles_closely,
};
use crate::diagnosis::{align, blocks};
use crate::guard::Facts;
use crate::time::Instant;
use crate::wire::{BlockKind, ChainId, Level, NodeId, Place, Request, Role, Wire, shared_nodes};

/// The sender of a request.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The request's position among all requests.
    pub index: usize,
    /// Its chain.
    pub chain: ChainId,
    /// When it was sent, if that is recorded.
    pub recorded_at: Option<Instant>,
    /// Name of the chain in reports.
    pub name: String,
    /// The input's name for the chain, if it has one.
    called: Option<String>,
    /// The chain that started this one, if the input shows it.
    pub parent: Option<String>,
    /// The request's key in the input.
    key: Option<u64>,
    /// Key of the request that it continues, if the input shows it.
    continues: Option<u64>,
    /// The scope in which it may share a cache.
    pub scope: String,
    /// All agents of this scope have the same caller.
    siblings: bool,
}

impl Sender {
    /// The sender of request `index`, which belongs to `lane`.
    pub fn new(index: usize, lane: &Lane, facts: &Facts<'_>) -> Self {
        let [called, parent] = [facts.chain, facts.parent].map(|name| name.map(str::to_owned));
        Self {
            index,
            chain: lane.chain,
            recorded_at: facts.recorded_at,
            name: lane.name.clone(),
            called,
            parent,
            key: facts.key,
            continues: facts.continues,
            scope: facts.scope.to_owned(),
            siblings: facts.siblings,
        }
    }

    /// Whether the input names it or its caller, so that its siblings are known and not guessed.
    pub const fn is_named(&self) -> bool {
        self.called.is_some() || self.parent.is_some()
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
}

/// A request that others may be related to.
pub trait Relative: Clone {
    /// The request.
    fn request(&self) -> &Request;
    /// Its sender.
    fn sender(&self) -> &Sender;
}

/// Relation of a chain's first request to earlier requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kinship<T> {
    /// It continues a request of another chain.
    Fork {
        /// The request that it continues.
        parent: T,
        /// How many leading blocks of that request it has to share, if a breakpoint covers them.
        until: usize,
        /// The part that its siblings share beyond that.
        sibling: Option<Sibling<T>>,
        /// The first request that continued from there, and the block from which on it differs from its parent; `None`
        /// for that request itself.
        eldest: Option<(T, usize)>,
    },
    /// It has a brief of its own, and there were others of its kind before.
    Brief(Sibling<T>),
    /// It is the first of its kind.
    New,
}

/// An earlier sibling, and the part of it that a later one has to share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling<T> {
    /// The family's first request.
    pub first: T,
    /// Blocks of it that a later one has to share.
    pub shared: Range<usize>,
    /// How many leading blocks a later one could share, if it was built so.
    pub could_share: usize,
}

/// The children of one request, or the agents with one kind of brief.
#[derive(Clone, Debug)]
struct Family<T> {
    /// Its position among all that there were.
    number: usize,
    /// The request that its members continue; `None` if they have briefs of their own.
    parent: Option<T>,
    first: T,
    /// The block from which on the first member differs from its parent.
    own_from: usize,
    /// How many leading blocks the first two share; `None` until there are two.
    shared: Option<usize>,
}

/// The families of an input.
#[derive(Clone, Debug)]
pub struct Kin<T> {
    families: VecDeque<Family<T>>,
    /// How many there were.
    founded: usize,
    sentences: KnownSentences,
}

/// Most families kept. Each keeps at most two requests besides those of its chains; a child that arrives later than
/// this many other fan-outs is compared only with its parent.
const FAMILIES_MAX: usize = 32;

/// Messages that a fork adds at its beginning: the parent's answer, and its directive.
const OWN_MESSAGES: usize = 2;

impl<T> Default for Kin<T> {
    fn default() -> Self {
        Self { families: VecDeque::new(), founded: 0, sentences: KnownSentences::default() }
    }
}

impl<T: Relative> Kin<T> {
    /// The relation of `newer`, the first request of its chain, to earlier requests; adds it to its family. `open` are
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

    /// Passes each request that families hold to `renew`.
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
            // A parent that goes on beside its forks has no directive, and nothing to share with them.
            Some(_) if !newer.sender().is_named() && !is_directed(wire, newer.request(), until) => None,
            Some(family) => {
                let end = family.shared.unwrap_or_default();
                family
                    .shared
                    .get_or_insert_with(|| shared_nodes(&family.first.request().nodes, &newer.request().nodes));
                let shared = family.own_from..end;
                (!shared.is_empty()).then(|| {
                    let could_share = shared.end;
                    Sibling { first: family.first.clone(), shared, could_share }
                })
            }
            None => {
                let own_from = inherited(wire, parent.request(), newer.request());
                self.found(Some(parent.clone()), newer, own_from);
                None
            }
        };
        Kinship::Fork { parent, until, sibling, eldest }
    }

    fn brief(&mut self, wire: &Wire, newer: &T) -> Kinship<T> {
        // Conversations with ids but without a caller are unrelated.
        let sender = newer.sender();
        if sender.called.is_some() && sender.parent().is_none() && !sender.siblings {
            return Kinship::New;
        }
        // Siblings without a caller are only noted, so that likeness is enough there.
        let may_differ = sender.siblings && sender.parent().is_none();
        let has_same_head = |family: &Family<T>| {
            let first = family.first.request();
            let is_known = family.shared.is_some_and(|shared| shared >= first.level_start(Level::Messages));
            is_of_kind(wire, first, newer.request(), is_known)
                || may_differ && resembles_closely(wire, first, newer.request())
        };
        let is_near = |family: &Family<T>| family.parent.is_none() && may_share(&family.first, newer);
        let alike = self.sentences.most_alike(wire, newer.request());
        let hides = |family: &Family<T>| {
            sender.parent().is_none()
                && alike == Some(family.number)
                && hides_its_instructions(wire, family.first.request(), newer.request())
        };
        let kin = self.families.iter().position(|family| is_near(family) && has_same_head(family));
        let kin = kin.or_else(|| self.families.iter().position(|family| is_near(family) && hides(family)));
        let Some(family) = kin.and_then(|at| self.families.get_mut(at)) else {
            self.sentences.learn(wire, newer.request(), self.founded);
            self.found(None, newer, 0);
            return Kinship::New;
        };
        let is_same = has_same_head(family);
        let is_asked = (!is_same || is_equal_head(family.first.request(), newer.request())) && hides(family);
        let first = family.first.request();
        if !is_same {
            // They could share something, and have to share nothing.
            return Kinship::Brief(Sibling {
                first: family.first.clone(),
                shared: 0..0,
                could_share: first.nodes.len(),
            });
        }
        // Children of one parent are known to be of one kind; others only if two earlier ones were.
        let known = if newer.sender().parent().is_some() { first.level_start(Level::Messages) } else { 0 };
        let end = family.shared.map_or(known, |shared| shared.max(known));
        let directive = directive(wire, first).min(directive(wire, newer.request()));
        family.shared.get_or_insert_with(|| shared_nodes(&first.nodes, &newer.request().nodes).min(directive));
        let could_share = if is_asked { first.nodes.len() } else { first.level_start(Level::Messages) };
        Kinship::Brief(Sibling { first: family.first.clone(), shared: 0..end, could_share })
    }

    fn found(&mut self, parent: Option<T>, first: &T, own_from: usize) {
        if self.families.len() == FAMILIES_MAX {
            self.families.pop_front();
        }
        self.families.push_back(Family { number: self.founded, parent, first: first.clone(), own_from, shared: None });
        self.founded += 1;
    }
}

/// Whether two agents have the same caller, and may read from one cache.
fn may_share<T: Relative>(older: &T, newer: &T) -> bool {
    older.sender().scope == newer.sender().scope
        && older.sender().parent() == newer.sender().parent()
        && older.request().root == newer.request().root
}

/// The request among `known` that `newer` continues, and how many of its leading blocks `newer` has to share.
fn origin<'a, T: Relative>(wire: &Wire, newer: &T, mut known: Vec<&'a T>) -> Option<(&'a T, usize)> {
    let is_named = |older: &&T| older.sender().key.is_some_and(|key| newer.sender().continues == Some(key));
    if let Some(older) = known.iter().copied().find(is_named) {
        return Some((older, shared_until(wire, older, newer, is_continued(older.request(), newer.request()))));
    }
    // A name means the chain of its own scope; another scope may use the same name by chance, so there history decides.
    let may_be = |older: &&T| {
        older.sender().chain != newer.sender().chain
            && match newer.sender().parent() {
                Some(parent) => older.sender().called.as_deref() == Some(parent),
                None => older.sender().scope == newer.sender().scope,
            }
    };
    known.retain(may_be);
    let own = History::of(wire, newer.request());
    let is_short = own.messages <= OWN_MESSAGES;
    let is_called = newer.sender().parent().is_some();
    // Only a name shows that so short a beginning is a fork's, if it does not hold all of another request.
    if is_short && !is_called {
        known.retain(|older| is_continued(older.request(), newer.request()));
    }
    let is_of_kind = |older: &&T| {
        is_called
            || !is_another_agent(wire, older.request(), newer.request())
                && (!is_of_another_kind(wire, older.request(), newer.request())
                    || is_retold(wire, older.request(), newer.request()))
    };
    known.retain(is_of_kind);
    let whole = known.iter().filter(|older| is_continued(older.request(), newer.request()));
    // The latest of equal candidates: a chain that repeats a request continues from the repetition.
    let whole = whole.max_by_key(|older| (older.request().nodes.len(), older.sender().index));
    if let Some(older) = whole {
        let latest = known
            .iter()
            .filter(|later| goes_on_from(wire, [*older, **later], newer, &own))
            .max_by_key(|it| it.sender().index);
        let parent = latest.unwrap_or(older);
        return Some((parent, parent.request().nodes.len()));
    }
    let shared = |older: &T| {
        let history = History::of(wire, older.request());
        let ends = history.shared(&own);
        // Its first message may have been edited, and its last one has its directive.
        let shared = if ends.most || is_short { ends } else { history.in_common(&own) };
        let is_called = newer.sender().parent().is_some() && newer.sender().scope == older.sender().scope;
        let is_alike = || resembles(wire, older.request(), newer.request());
        if is_short {
            // Any brief may be as short as this, and may repeat the words of its caller.
            let is_whole = is_called && shared.holds_last && own.len() > history.len() && is_alike();
            return is_whole.then_some((true, shared.blocks, Reverse(history.len())));
        }
        let is_shaped = own.messages == history.messages + OWN_MESSAGES && is_alike();
        let is_whole = shared.holds_last && (is_called || shared.most) || is_called && is_shaped;
        (is_whole || is_called && shared.most).then_some((is_whole, shared.blocks, Reverse(history.len())))
    };
    let akin = known.into_iter().filter_map(|older| Some((shared(older)?, older)));
    let ((is_whole, ..), older) = akin.max_by_key(|(shared, _)| *shared)?;
    Some((older, shared_until(wire, older, newer, is_whole)))
}

/// How many leading blocks of `older` its continuation has to share.
fn shared_until<T: Relative>(wire: &Wire, older: &T, newer: &T, is_whole: bool) -> usize {
    if is_whole { older.request().nodes.len() } else { branch(wire, older.request(), newer.request()) }
}

/// Whether `newer`, which contains all of `older`, continues a later request of the same chain and changed part of it:
/// it is longer than that request, shares more of it than `older` contained, and its messages there have as many
/// blocks. A message with a fork's answers to its parent's calls also has its directive.
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

/// Whether `newer` begins with all of `older`.
fn is_continued(older: &Request, newer: &Request) -> bool {
    let end = older.nodes.len();
    older.root == newer.root && end > 0 && newer.nodes.get(end - 1) == older.nodes.last() && newer.nodes.len() > end
}

/// Where `newer` left the path of `older`, which had continued in the meantime: the number of blocks of `older` before
/// that. The request from which `newer` was built is gone, so only the blocks before its own messages are known to be
/// meant for sharing.
fn branch(wire: &Wire, older: &Request, newer: &Request) -> usize {
    let (old, new) = (blocks(older, &wire.prefixes), blocks(newer, &wire.prefixes));
    let last = newer.places.last().map_or(0, |place| place.item as usize);
    let is_own = |place: &Place| {
        place.level == Level::Messages && place.item != Place::LEVEL_HEAD && place.item as usize + OWN_MESSAGES > last
    };
    let own = newer.places.iter().position(is_own).unwrap_or(new.len());
    align(&old, &new).partner[..own].iter().flatten().max().map_or(0, |at| at + 1)
}

/// Blocks of `newer` up to the last one that is also in `older`.
fn inherited(wire: &Wire, older: &Request, newer: &Request) -> usize {
    let alignment = align(&blocks(older, &wire.prefixes), &blocks(newer, &wire.prefixes));
    alignment.partner.iter().rposition(Option::is_some).map_or(0, |at| at + 1)
}

/// Where an agent's own instructions are: the last user text in its first request.
fn directive(wire: &Wire, request: &Request) -> usize {
    let is_users = |node: &NodeId| is_user_text(wire, *node);
    request.nodes.iter().rposition(is_users).unwrap_or(request.nodes.len())
}

/// Whether a request has a user's text after its first `until` blocks, or ends before.
fn is_directed(wire: &Wire, request: &Request, until: usize) -> bool {
    request.nodes.get(until..).is_none_or(|own| own.iter().any(|node| is_user_text(wire, *node)))
}

fn is_user_text(wire: &Wire, node: NodeId) -> bool {
    let block = wire.prefixes.block(node);
    block.is_some_and(|block| wire.blocks.role(block) == Role::User && wire.blocks.kind(block) == BlockKind::Text)
}
