//! The prefix check of preserved thinking: current Claude models bind each thinking block to what was before it when it
//! was made. If that differs when the block is sent again, the provider answers HTTP 400 or drops the block, whatever
//! the cache does. Source: `providers-2026-11.md` A (pages of 2026-09 to 2026-11, read 2026-11-23).
//!
//! A block's prefix is the set of tools, the system prompt and all messages before it, in a normal form that ignores
//! what the check ignores. Thinking is not part of it: each block also knows the block made before it, and blocks
//! that are kept must be one unbroken run. Each block is judged by itself against the request that made it.
//!
//! Before that a model must be able to read the block (`readers`), and its signature must be the one it was made with
//! (`signatures`). What follows from a changed prefix depends on model, day and account ([`PROFILE`]).
//!
//! Limits. Requests show only what is sent: a block that the first request of a chain already holds is taken as sent
//! unchanged, and a fork that is read before its parent is judged by what it holds itself. Images and documents are compared
//! without their address, tool results in the order of their calls.

mod answer;
mod answered;
mod normal;
mod outcome;
mod path;
mod profile;
mod readers;
mod rejection;
mod signatures;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use answer::is_answered;
use normal::Normal;
use path::Paths;
use rejection::{Edit, Failing, ThinkingFault};
use signatures::{Key, Signatures, key};

pub use answered::{AnsweredThinking, DropReason, refusal_of_thinking};
pub use outcome::{Circumstances, Outcome, outcome};
pub(super) use profile::binds;
pub use profile::{PROFILE, ProfileRow, Unset};
pub use rejection::{RejectedThinking, THINKING_AT, ThinkingRemark};

use super::sides::search_tools;
use crate::wire::model::ModelId;
use crate::wire::{BlockId, BlockKind, ChainId, ExcludedWhy, Level, NodeId, Place, Request, Role, Wire};

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
    /// How many blocks have one.
    faults: usize,
    /// The first block that the model may not read.
    unread: Option<Unread>,
}

/// A block that a model may not read, and the model that made it.
type Unread = (Place, ModelId);

/// A thinking block on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thought(usize);

/// Tools with deferred loading: they are no part of a prefix until something names them.
#[derive(Debug)]
struct DeferredTools {
    /// Number of this set of tools; a conversation has few.
    set: usize,
    /// Digests of the normal forms, by name.
    tools: Tools,
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
    signatures: Signatures,
    /// Digests of the tools by name, for each content that begins with them.
    tools: BTreeMap<NodeId, Tools>,
    /// A request to a model that binds its thinking was taken: until then nothing is bound.
    binds: bool,
    /// Of the current wire.
    normals: BTreeMap<BlockId, Option<Normal>>,
    deferred: BTreeMap<Vec<BlockId>, Arc<DeferredTools>>,
    positions: BTreeMap<(usize, NodeId), Position>,
}

/// Tools by name.
type Tools = BTreeMap<String, u128>;

/// A request for the check.
#[derive(Clone, Copy)]
pub struct ThinkingTurn<'a> {
    /// The wire into which it was read.
    pub wire: &'a Wire,
    /// The request.
    pub request: &'a Request,
    /// Its chain.
    pub chain: ChainId,
    /// The request that it continues, of the same chain or, for a fork's first one, of `parent`.
    pub previous: Option<&'a Request>,
    /// The chain that its chain continues, for the first request of a fork.
    pub parent: Option<ChainId>,
    /// What else decides the outcome.
    pub circumstances: Circumstances,
}

/// What the provider does with the thinking in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedThinking {
    /// The first block that it does not take as it is.
    pub rejected: Option<RejectedThinking>,
    /// The first block that the model may not read, if the request before went to another model.
    pub unread: Option<ThinkingRemark>,
    /// The first block whose text alone was altered.
    pub altered: Option<ThinkingRemark>,
}

/// A request on its way through the check.
struct Walk<'a> {
    turn: &'a ThinkingTurn<'a>,
    request: &'a Request,
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

impl ThinkingCheck {
    /// Takes the next request.
    pub fn take(&mut self, turn: &ThinkingTurn<'_>) -> JudgedThinking {
        let ThinkingTurn { wire, request, chain, .. } = *turn;
        if let Some(parent) = turn.parent.filter(|parent| *parent != chain) {
            self.parents.entry(chain).or_insert(parent);
        }
        // As long as nobody thinks, there is nothing to bind.
        if !request.has_modelled_cache() || !wire.blocks.has_kind(BlockKind::Thinking) {
            return JudgedThinking::default();
        }
        let outcome = outcome(request, &turn.circumstances);
        self.binds |= outcome.is_some();
        let altered = self.signatures.compare(turn).map(|place| ThinkingRemark::altered(request, place));
        let end = self.binds.then(|| self.judge(turn));
        let failing = end.zip(outcome).and_then(|(end, outcome)| {
            let first = &self.faults[end.fault?];
            Some(Failing { first, outcome, blocks: end.faults })
        });
        let replaced = self.signatures.replaced(turn, || self.lineage(chain));
        let is_switched = turn.previous.is_some_and(|previous| previous.resolved != request.resolved);
        let unread = end.and_then(|end| end.unread).filter(|_| is_switched);
        let unread = unread.map(|(place, maker)| ThinkingRemark::unread(request, place, maker));
        JudgedThinking { rejected: rejection::first(turn, failing, &replaced), unread, altered }
    }

    /// What the provider does with thinking in `newer`, if it follows `older` in one chain.
    pub fn of_pair(wire: &Wire, older: &Request, newer: &Request, circumstances: Circumstances) -> JudgedThinking {
        let mut check = Self::default();
        let turn =
            ThinkingTurn { wire, request: older, chain: ChainId(0), previous: None, parent: None, circumstances };
        check.take(&turn);
        check.take(&ThinkingTurn { request: newer, previous: Some(older), ..turn })
    }

    /// Judges each block of a request. Returns its end.
    fn judge(&mut self, turn: &ThinkingTurn<'_>) -> Position {
        let ThinkingTurn { wire, request, previous, .. } = *turn;
        let model = |request: &Request| request.resolved.map(|resolved| resolved.id);
        let own = previous.map_or_else(|| model(request), model);
        let asked = previous.filter(|previous| is_answered(wire, previous, request)).map(|previous| {
            let end = self.walk(&Walk { turn, request: previous, model: own, asked: None });
            let messages = previous.places.last().filter(|place| place.level == Level::Messages);
            Antecedent { end, messages: messages.map_or(0, |place| place.item.saturating_add(1)) }
        });
        self.walk(&Walk { turn, request, model: own, asked })
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.normals.clear();
        self.deferred.clear();
        self.positions.clear();
    }

    /// Follows a request from the longest prefix that is known to its end.
    fn walk(&mut self, walk: &Walk<'_>) -> Position {
        let Walk { turn: ThinkingTurn { wire, .. }, request, .. } = walk;
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
        let Walk { turn: ThinkingTurn { wire, .. }, request, .. } = walk;
        let blocks = |level: Level| {
            let nodes = request.nodes.iter().zip(&request.places).take(first_message);
            let own = nodes.filter(move |(_, place)| place.level == level && !place.keys);
            own.filter_map(|(node, place)| Some((wire.prefixes.block(*node)?, *place)))
        };
        let mut tools = Self::search_tools(walk, first_message);
        for (block, _) in blocks(Level::Tools) {
            let digest = self.normal(wire, block).map(|normal| normal.digest);
            tools.extend(digest.map(|digest| (normal::tool_key(wire.blocks.bytes(block)), digest)));
        }
        let all: Vec<u8> = tools.values().flat_map(|digest| digest.to_le_bytes()).collect();
        let all = normal::digest(Role::None, &all);
        let mut content = self.paths.step(self.paths.start(), all, Place::head(Level::Tools));
        self.tools.entry(content).or_insert(tools);
        let system: Vec<(BlockId, Place)> = blocks(Level::System).collect();
        for (block, place) in system {
            if let Some(normal) = self.normal(wire, block) {
                content = self.paths.step(content, normal.digest, place);
            }
        }
        Position { content, thought: None, fault: None, faults: 0, unread: None }
    }

    /// The provider's own search tools, which a cache has among the parameters of the system prompt.
    fn search_tools(walk: &Walk<'_>, first_message: usize) -> Tools {
        let Walk { turn: ThinkingTurn { wire, .. }, request, .. } = walk;
        let own = request.nodes.iter().zip(&request.places).take(first_message);
        let heads = own.filter(|(_, place)| **place == Place::head(Level::System));
        let heads = heads.filter_map(|(node, _)| wire.prefixes.block(*node));
        let tools = heads.flat_map(|block| search_tools(wire.blocks.bytes(block)));
        tools.filter_map(|tool| Some((normal::tool_key(tool), normal::of_tool(tool)?.digest))).collect()
    }

    /// Follows one block. `made` is the position in the request that made it, if this is its first time.
    fn follow(&mut self, walk: &Walk<'_>, step: &Block<'_>, position: &mut Position, made: Option<&mut Position>) {
        let Block { block, place, deferred } = *step;
        let bytes = walk.turn.wire.blocks.bytes(block);
        let kind = walk.turn.wire.blocks.kind(block);
        if kind == BlockKind::Thinking {
            let own = key(bytes);
            let key = self.signatures.original(self.lineage(walk.turn.chain), &own).unwrap_or(own);
            self.think(walk, key, place, position, made);
            return;
        }
        let Some(normal) = self.normal(walk.turn.wire, block) else { return };
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
        let last = |check: &Self, thought: Option<Thought>| thought.map(|Thought(at)| check.thoughts[at].0);
        let chain = walk.turn.chain;
        let mint = self.mint(chain, &key).cloned().unwrap_or_else(|| {
            let origin = made.as_ref().map_or(*position, |made| **made);
            let mint = Mint { model: walk.model, before: origin.content, after: last(self, origin.thought) };
            self.mints.insert((chain, key), mint.clone());
            mint
        });
        let before = last(self, position.thought);
        let is_in_order = before.is_none() || before == mint.after;
        let is_changed = !is_in_order || mint.before != position.content;
        let reads = Self::reads(walk, &mint);
        if reads == Some(true) && is_changed && !self.repeats(position.thought, &key) {
            position.faults += 1;
            if position.fault.is_none() {
                position.fault = Some(self.faults.len());
                self.faults.push(ThinkingFault { place, edit: self.edit(&mint, position.content) });
            }
        }
        position.unread = position.unread.or(mint.model.map(|maker| (place, maker)).filter(|_| reads == Some(false)));
        for position in [Some(position), made].into_iter().flatten() {
            self.thoughts.push((key, position.thought));
            position.thought = Some(Thought(self.thoughts.len() - 1));
        }
    }

    /// Whether the model of the request reads a block and finds what it is bound to; `None` if it is not bound, or not known.
    fn reads(walk: &Walk<'_>, mint: &Mint) -> Option<bool> {
        let Some((maker, reader)) = mint.model.zip(walk.request.resolved) else {
            // Two models that are not in the table: the same one, as far as anybody knows.
            return (mint.model.is_none() && walk.request.resolved.is_none()).then_some(true);
        };
        let reads = readers::reads(reader, maker, walk.turn.circumstances.date)?;
        (!reads || binds(maker)).then_some(reads)
    }

    /// What differs before a block.
    fn edit(&self, mint: &Mint, content: NodeId) -> Edit {
        match self.paths.difference(mint.before, content) {
            Some(Edit::Differs(Place { level: Level::Tools, .. })) => {
                let tools = [mint.before, content].map(|content| self.tools.get(&self.paths.first(content)));
                Edit::of_tools(tools)
            }
            edit => edit.unwrap_or(Edit::Thinking),
        }
    }

    /// How a block was made, in this chain or in one that it continues.
    fn mint(&self, chain: ChainId, key: &Key) -> Option<&Mint> {
        self.lineage(chain).find_map(|chain| self.mints.get(&(chain, *key)))
    }

    /// A chain, and those that it continues.
    fn lineage(&self, chain: ChainId) -> impl Iterator<Item = ChainId> {
        let mut seen = BTreeSet::new();
        let next = move |chain: &ChainId| self.parents.get(chain).copied();
        std::iter::successors(Some(chain), next).take_while(move |chain| seen.insert(*chain))
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
            let digest = self.normal(walk.turn.wire, *block)?.digest;
            Some((normal::tool_key(walk.turn.wire.blocks.bytes(*block)), digest))
        };
        let tools = blocks.iter().filter_map(one).collect();
        let deferred = Arc::new(DeferredTools { set: self.deferred.len(), tools });
        self.deferred.insert(blocks, Arc::clone(&deferred));
        deferred
    }
}
