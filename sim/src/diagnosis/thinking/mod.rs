//! The prefix check of preserved thinking: current Claude models bind each thinking block to what was before it when it
//! was made. If that differs when the block is sent again, the provider answers HTTP 400 or drops the block, whatever
//! the cache does. Source: `providers-2026-11.md` A (pages of 2026-09 to 2026-11, read 2026-11-23).
//!
//! A block's prefix is the set of tools, the system prompt and all messages before it, in a normal form that ignores
//! what the check ignores. Thinking is not part of it: each block also knows the block made before it, and blocks
//! that are kept must be one unbroken run. Each block is judged by itself against the request that made it.
//!
//! Limits. Requests show only what is sent: a block that the first request of a chain already holds is taken as sent
//! unchanged. Images and documents are compared without their address, tool results in the order of their calls, and
//! definitions of web search not at all.

mod normal;
mod outcome;
mod path;
mod rejection;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use path::Paths;
use rejection::{Edit, ThinkingFault};

pub use outcome::{Outcome, outcome};
pub use rejection::RejectedThinking;

use super::ends::CommonEnds;
use crate::wire::model::ModelId;
use crate::wire::{BlockId, BlockKind, ChainId, ExcludedWhy, Level, NodeId, Place, Request, Role, Wire, json};
use normal::Normal;

/// Identity of a thinking block: digest of its signature. Its text is for display only: one that was altered is accepted.
type Key = [u8; 32];

/// How a thinking block was made.
#[derive(Clone, Debug)]
struct Mint {
    model: Option<ModelId>,
    before: NodeId,
    /// The thinking block before it.
    after: Option<Key>,
}

/// A position within a prompt.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// All content so far. Messages before a summary of the provider's are no part of a prompt.
    content: NodeId,
    /// The last thinking block.
    thought: Option<Thought>,
    /// The first fault so far.
    fault: Option<usize>,
}

/// A thinking block on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thought(usize);

/// Tools with deferred loading: they are no part of a prefix until something names them.
#[derive(Debug)]
struct DeferredTools {
    /// Number of this set of tools; a conversation has few.
    set: usize,
    /// Digests of the normal forms, by name.
    tools: BTreeMap<String, u128>,
}

/// Checks requests one after the other; they are read into one wire.
#[derive(Clone, Debug, Default)]
pub struct ThinkingCheck {
    paths: Paths,
    mints: BTreeMap<(ChainId, Key), Mint>,
    /// The chain that each chain continues.
    parents: BTreeMap<ChainId, ChainId>,
    /// Each thinking block on a path, with the one before it.
    thoughts: Vec<(Key, Option<Thought>)>,
    faults: Vec<ThinkingFault>,
    /// Of the current wire.
    normals: BTreeMap<BlockId, Option<Normal>>,
    deferred: BTreeMap<Vec<BlockId>, Arc<DeferredTools>>,
    positions: BTreeMap<(usize, NodeId), Position>,
}

/// A request on its way through the check.
struct Walk<'a> {
    wire: &'a Wire,
    request: &'a Request,
    chain: ChainId,
    /// The model that made the blocks seen for the first time.
    model: Option<ModelId>,
    /// The request whose answer the next message is.
    asked: Option<Antecedent>,
}

/// A block of it.
#[derive(Clone, Copy)]
struct Block<'a> {
    block: BlockId,
    place: Place,
    deferred: &'a DeferredTools,
}

/// The request before in the same chain: the next message is its answer.
#[derive(Clone, Copy, Debug)]
struct Antecedent {
    end: Position,
    messages: u32,
}

/// Whether the next message after those of `previous` is its answer. It is not if `request` has another last message in
/// their place: then `previous` was an aside of the client, or its turn was taken back. An aside that keeps a block of that
/// message looks like an edit of it, here and to the judge of the cache.
fn is_answered(wire: &Wire, previous: &Request, request: &Request) -> bool {
    let Some(last) = previous.places.last().filter(|place| place.level == Level::Messages) else { return false };
    // From the end, so that a turn costs nothing for the messages before it.
    let of = |request: &Request| {
        let nodes = request.nodes.iter().zip(&request.places).rev();
        let later = |place: &Place| place.level == Level::Messages && place.item > last.item;
        let is_there = |place: &Place| place.level == Level::Messages && place.item == last.item;
        let own = nodes.skip_while(|(_, place)| later(place)).take_while(|(_, place)| is_there(place));
        let own = own.filter(|(_, place)| !place.keys);
        own.filter_map(|(node, _)| wire.prefixes.block(*node)).collect::<Vec<BlockId>>()
    };
    match (of(previous).as_slice(), of(request).as_slice()) {
        ([old], [new]) => is_edited(wire.blocks.bytes(*old), wire.blocks.bytes(*new)),
        (old, new) => old.iter().any(|block| new.contains(block)),
    }
}

/// The identity of a thinking block; without a signature, as in tests, the whole block is its own.
fn key(bytes: &[u8]) -> Key {
    /// An empty string.
    const EMPTY: usize = 2;
    let signed = |name: &[u8]| json::member(bytes, name).filter(|value| value.len() > EMPTY);
    let signed = signed(b"\"signature\"").or_else(|| signed(b"\"data\""));
    blake3::hash(signed.unwrap_or(bytes)).into()
}

/// Whether a text is more likely an edit of the other than another text: half of it is equal at its ends.
fn is_edited(old: &[u8], new: &[u8]) -> bool {
    /// Keys and quotes around the text of a block.
    const SCAFFOLDING: usize = 25;
    let equal = CommonEnds::of(old, new).len().saturating_sub(SCAFFOLDING);
    equal * 2 >= old.len().max(new.len()).saturating_sub(SCAFFOLDING)
}

impl ThinkingCheck {
    /// Takes the next request of `chain`; `previous` is the request that it continues, of the same chain or, for a
    /// fork's first one, of `parent`. Returns the first block of it that its provider does not take as it is.
    pub fn take(
        &mut self,
        wire: &Wire,
        request: &Request,
        chain: ChainId,
        previous: Option<&Request>,
        parent: Option<ChainId>,
    ) -> Option<RejectedThinking> {
        let outcome = outcome(request)?;
        if let Some(parent) = parent.filter(|parent| *parent != chain) {
            self.parents.entry(chain).or_insert(parent);
        }
        // As long as nobody thinks, there is nothing to bind.
        if !wire.blocks.has_kind(BlockKind::Thinking) {
            return None;
        }
        let model = |request: &Request| request.resolved.map(|resolved| resolved.id);
        let own = previous.map_or_else(|| model(request), model);
        let asked = previous.filter(|previous| is_answered(wire, previous, request)).map(|previous| {
            let end = self.walk(&Walk { wire, request: previous, chain, model: own, asked: None });
            let messages = previous.places.last().filter(|place| place.level == Level::Messages);
            Antecedent { end, messages: messages.map_or(0, |place| place.item.saturating_add(1)) }
        });
        let end = self.walk(&Walk { wire, request, chain, model: own, asked });
        end.fault.map(|fault| RejectedThinking::new(request, &self.faults[fault], outcome))
    }

    /// The first thinking in `newer` that its provider does not take as it is, if `newer` follows `older` in one chain.
    pub fn of_pair(wire: &Wire, older: &Request, newer: &Request) -> Option<RejectedThinking> {
        let (mut check, chain) = (Self::default(), ChainId(0));
        check.take(wire, older, chain, None, None);
        check.take(wire, newer, chain, Some(older), None)
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.normals.clear();
        self.deferred.clear();
        self.positions.clear();
    }

    /// Follows a request from the longest prefix that is known to its end.
    fn walk(&mut self, walk: &Walk<'_>) -> Position {
        let Walk { wire, request, .. } = walk;
        let deferred = self.deferred(walk);
        let first_message = request.level_start(Level::Messages);
        let at_node = |at: usize| (deferred.set, request.nodes[at]);
        let known = (first_message..request.nodes.len()).rev().find(|at| self.positions.contains_key(&at_node(*at)));
        let (from, mut position) = match known {
            Some(at) => (at + 1, self.positions[&at_node(at)]),
            None => (first_message, self.head(walk, first_message)),
        };
        let mut made = walk.asked.map(|asked| asked.end);
        for at in from..request.nodes.len() {
            let place = request.places[at];
            let Some(block) = wire.prefixes.block(request.nodes[at]) else { continue };
            if place == Place::head(Level::Messages) {
                continue;
            }
            // Only the message right after the request before is its answer.
            let made = made.as_mut().filter(|_| walk.asked.is_some_and(|asked| asked.messages == place.item));
            self.follow(walk, &Block { block, place, deferred: &deferred }, &mut position, made);
            self.positions.insert(at_node(at), position);
        }
        position
    }

    /// The position before the messages.
    fn head(&mut self, walk: &Walk<'_>, first_message: usize) -> Position {
        let Walk { wire, request, .. } = walk;
        let blocks = |level: Level| {
            let nodes = request.nodes.iter().zip(&request.places).take(first_message);
            let own = nodes.filter(move |(_, place)| place.level == level && !place.keys);
            own.filter_map(|(node, place)| Some((wire.prefixes.block(*node)?, *place)))
        };
        let mut tools = BTreeSet::new();
        for (block, _) in blocks(Level::Tools) {
            let digest = self.normal(wire, block).map(|normal| normal.digest);
            tools.extend(digest.map(|digest| (normal::tool_key(wire.blocks.bytes(block)), digest)));
        }
        let all: Vec<u8> = tools.into_iter().flat_map(|(_, digest)| digest.to_le_bytes()).collect();
        let tools = Place { level: Level::Tools, item: Place::LEVEL_HEAD, part: 0, keys: true };
        let mut content = self.paths.step(self.paths.start(), normal::digest(Role::None, &all), tools);
        let system: Vec<(BlockId, Place)> = blocks(Level::System).collect();
        for (block, place) in system {
            if let Some(normal) = self.normal(wire, block) {
                content = self.paths.step(content, normal.digest, place);
            }
        }
        Position { content, thought: None, fault: None }
    }

    /// Follows one block. `made` is the position in the request that made it, if this is its first time.
    fn follow(&mut self, walk: &Walk<'_>, step: &Block<'_>, position: &mut Position, made: Option<&mut Position>) {
        let Block { block, place, deferred } = *step;
        let bytes = walk.wire.blocks.bytes(block);
        let kind = walk.wire.blocks.kind(block);
        if kind == BlockKind::Thinking {
            self.think(walk, key(bytes), place, position, made);
            return;
        }
        let Some(normal) = self.normal(walk.wire, block) else { return };
        let named = normal.referred.iter().filter_map(|name| deferred.tools.get(name));
        let digest = named.fold(normal.digest, |digest, tool| {
            normal::digest(Role::None, &[digest.to_le_bytes(), tool.to_le_bytes()].concat())
        });
        for position in [Some(position), made].into_iter().flatten() {
            position.content = self.paths.step(position.content, digest, place);
        }
    }

    /// Follows a thinking block: makes it if it is new, and judges it.
    fn think(&mut self, walk: &Walk<'_>, key: Key, place: Place, position: &mut Position, made: Option<&mut Position>) {
        let model = walk.request.resolved.map(|resolved| resolved.id);
        let last = |check: &Self, thought: Option<Thought>| thought.map(|Thought(at)| check.thoughts[at].0);
        let mint = self.mint(walk.chain, &key).cloned().unwrap_or_else(|| {
            let origin = made.as_ref().map_or(*position, |made| **made);
            let mint = Mint { model: walk.model, before: origin.content, after: last(self, origin.thought) };
            self.mints.insert((walk.chain, key), mint.clone());
            mint
        });
        let before = last(self, position.thought);
        let is_in_order = before.is_none() || before == mint.after;
        let is_changed = !is_in_order || mint.before != position.content;
        if position.fault.is_none() && mint.model == model && is_changed && !self.repeats(position.thought, &key) {
            let edit = self.paths.difference(mint.before, position.content).unwrap_or(Edit::Thinking);
            position.fault = Some(self.faults.len());
            self.faults.push(ThinkingFault { place, edit });
        }
        for position in [Some(position), made].into_iter().flatten() {
            self.thoughts.push((key, position.thought));
            position.thought = Some(Thought(self.thoughts.len() - 1));
        }
    }

    /// How a block was made, in this chain or in one that it continues.
    fn mint(&self, chain: ChainId, key: &Key) -> Option<&Mint> {
        let mut seen = BTreeSet::new();
        let mut next = Some(chain);
        while let Some(chain) = next.filter(|chain| seen.insert(*chain)) {
            if let Some(mint) = self.mints.get(&(chain, *key)) {
                return Some(mint);
            }
            next = self.parents.get(&chain).copied();
        }
        None
    }

    /// Whether a block equals an earlier one of its request: signatures of tests repeat, and then say nothing.
    fn repeats(&self, mut thought: Option<Thought>, key: &Key) -> bool {
        while let Some(Thought(at)) = thought {
            let (earlier, before) = self.thoughts[at];
            if earlier == *key {
                return true;
            }
            thought = before;
        }
        false
    }

    fn normal(&mut self, wire: &Wire, block: BlockId) -> Option<Normal> {
        let blocks = &wire.blocks;
        let of = || normal::normal(blocks.bytes(block), blocks.kind(block), blocks.role(block));
        self.normals.entry(block).or_insert_with(of).clone()
    }

    /// The request's tools with deferred loading, read once for each set of them.
    fn deferred(&mut self, walk: &Walk<'_>) -> Arc<DeferredTools> {
        let excluded = walk.request.excluded.iter().filter(|block| block.why == ExcludedWhy::DeferredTool);
        let blocks: Vec<BlockId> = excluded.map(|excluded| excluded.block).collect();
        if let Some(known) = self.deferred.get(&blocks) {
            return Arc::clone(known);
        }
        let one = |block: &BlockId| {
            let digest = self.normal(walk.wire, *block)?.digest;
            Some((normal::tool_key(walk.wire.blocks.bytes(*block)), digest))
        };
        let tools = blocks.iter().filter_map(one).collect();
        let deferred = Arc::new(DeferredTools { set: self.deferred.len(), tools });
        self.deferred.insert(blocks, Arc::clone(&deferred));
        deferred
    }
}
