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

use std::collections::{BTreeMap, BTreeSet};

use path::Paths;

pub use outcome::{Outcome, outcome};

use super::ends::CommonEnds;
use crate::wire::model::ModelId;
use crate::wire::{BlockId, BlockKind, ChainId, ExcludedWhy, Level, NodeId, Place, Request, Role, Wire};
use normal::Normal;

/// Identity of a thinking block: digest of its bytes, signature included.
type Key = [u8; 32];

/// A thinking block that is sent after other content than it was made after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThinkingFault {
    /// The block.
    pub place: Place,
    /// What differs before it.
    pub edit: Edit,
}

/// What differs before a thinking block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Content differs from when the block was made, first at this place.
    Differs(Place),
    /// Content is missing that was at this place when the block was made.
    Missing(Place),
    /// The thinking block before it is not the one that was before it when it was made.
    Thinking,
}

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
    /// All content so far.
    content: NodeId,
    /// Content up to the messages: where a summary of the provider's begins.
    base: NodeId,
    /// The last thinking block.
    thought: Option<Thought>,
    /// The first fault so far.
    fault: Option<usize>,
}

/// A thinking block on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thought(usize);

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
    positions: BTreeMap<NodeId, Position>,
}

/// A request on its way through the check.
struct Walk<'a> {
    wire: &'a Wire,
    request: &'a Request,
    chain: ChainId,
    /// The request whose answer the next message is: its end, the number of its messages, and its model.
    asked: Option<Antecedent>,
}

/// A block of it.
#[derive(Clone, Copy)]
struct Block<'a> {
    block: BlockId,
    place: Place,
    /// The request's tools with deferred loading, by name.
    deferred: &'a BTreeMap<String, u128>,
}

/// The request before in the same chain: the next message is its answer.
#[derive(Clone, Copy, Debug)]
struct Antecedent {
    end: Position,
    messages: u32,
    model: Option<ModelId>,
}

/// Whether the next message after those of `previous` is its answer. It is not if `request` has another last message in
/// their place: then `previous` was an aside of the client, or its turn was taken back. An aside that keeps a block of that
/// message looks like an edit of it, here and to the judge of the cache.
fn is_answered(wire: &Wire, previous: &Request, request: &Request) -> bool {
    let Some(last) = previous.places.last().filter(|place| place.level == Level::Messages) else { return false };
    let of = |request: &Request| {
        let nodes = request.nodes.iter().zip(&request.places);
        let own = nodes.filter(|(_, place)| place.level == Level::Messages && place.item == last.item && !place.keys);
        own.filter_map(|(node, _)| wire.prefixes.block(*node)).collect::<Vec<BlockId>>()
    };
    match (of(previous).as_slice(), of(request).as_slice()) {
        ([old], [new]) => is_edited(wire.blocks.bytes(*old), wire.blocks.bytes(*new)),
        (old, new) => old.iter().any(|block| new.contains(block)),
    }
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
    /// fork's first one, of `parent`. Returns the first block of it that the check rejects.
    pub fn take(
        &mut self,
        wire: &Wire,
        request: &Request,
        chain: ChainId,
        previous: Option<&Request>,
        parent: Option<ChainId>,
    ) -> Option<&ThinkingFault> {
        if let Some(parent) = parent.filter(|parent| *parent != chain) {
            self.parents.entry(chain).or_insert(parent);
        }
        let asked = previous.filter(|previous| is_answered(wire, previous, request)).map(|previous| {
            let end = self.walk(&Walk { wire, request: previous, chain, asked: None });
            let messages = previous.places.last().filter(|place| place.level == Level::Messages);
            let model = previous.resolved.map(|resolved| resolved.id);
            Antecedent { end, messages: messages.map_or(0, |place| place.item.saturating_add(1)), model }
        });
        let end = self.walk(&Walk { wire, request, chain, asked });
        end.fault.map(|fault| &self.faults[fault])
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.normals.clear();
        self.positions.clear();
    }

    /// Follows a request from the longest prefix that is known to its end.
    fn walk(&mut self, walk: &Walk<'_>) -> Position {
        let Walk { wire, request, .. } = walk;
        let deferred = self.deferred(walk);
        let first_message = request.level_start(Level::Messages);
        // Deferred tools are no part of the prefixes of a wire.
        let known = match deferred.is_empty() {
            true => {
                (first_message..request.nodes.len()).rev().find(|at| self.positions.contains_key(&request.nodes[*at]))
            }
            false => None,
        };
        let (from, mut position) = match known {
            Some(at) => (at + 1, self.positions[&request.nodes[at]]),
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
            let step = Block { block, place, deferred: &deferred };
            self.follow(walk, &step, &mut position, made);
            if deferred.is_empty() {
                self.positions.insert(request.nodes[at], position);
            }
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
        Position { content, base: content, thought: None, fault: None }
    }

    /// Follows one block. `made` is the position in the request that made it, if this is its first time.
    fn follow(&mut self, walk: &Walk<'_>, step: &Block<'_>, position: &mut Position, made: Option<&mut Position>) {
        let Block { block, place, deferred } = *step;
        let bytes = walk.wire.blocks.bytes(block);
        let kind = walk.wire.blocks.kind(block);
        if kind == BlockKind::Thinking {
            self.think(walk, blake3::hash(bytes).into(), place, position, made);
            return;
        }
        let Some(normal) = self.normal(walk.wire, block) else { return };
        let is_summary = kind == BlockKind::Opaque && normal::is_compaction(bytes);
        let named = normal.referred.iter().filter_map(|name| deferred.get(name));
        let digest = named.fold(normal.digest, |digest, tool| {
            normal::digest(Role::None, &[digest.to_le_bytes(), tool.to_le_bytes()].concat())
        });
        for position in [Some(position), made].into_iter().flatten() {
            if is_summary {
                *position = Position { content: position.base, thought: None, ..*position };
            }
            position.content = self.paths.step(position.content, digest, place);
        }
    }

    /// Follows a thinking block: makes it if it is new, and judges it.
    fn think(&mut self, walk: &Walk<'_>, key: Key, place: Place, position: &mut Position, made: Option<&mut Position>) {
        let model = walk.request.resolved.map(|resolved| resolved.id);
        let last = |check: &Self, thought: Option<Thought>| thought.map(|Thought(at)| check.thoughts[at].0);
        let mint = self.mint(walk.chain, &key).cloned().unwrap_or_else(|| {
            let origin = made.as_ref().map_or(*position, |made| **made);
            let model = walk.asked.filter(|_| made.is_some()).map_or(model, |asked| asked.model);
            let mint = Mint { model, before: origin.content, after: last(self, origin.thought) };
            self.mints.insert((walk.chain, key), mint.clone());
            mint
        });
        let before = last(self, position.thought);
        let is_in_order = before.is_none() || before == mint.after;
        let is_bound = mint.model == model && !self.repeats(position.thought, &key);
        if position.fault.is_none() && is_bound && !(is_in_order && mint.before == position.content) {
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

    /// The tools with deferred loading, by name.
    fn deferred(&mut self, walk: &Walk<'_>) -> BTreeMap<String, u128> {
        let excluded = walk.request.excluded.iter().filter(|block| block.why == ExcludedWhy::DeferredTool);
        let blocks: Vec<BlockId> = excluded.map(|excluded| excluded.block).collect();
        let one = |block| {
            let digest = self.normal(walk.wire, block)?.digest;
            Some((normal::tool_key(walk.wire.blocks.bytes(block)), digest))
        };
        blocks.into_iter().filter_map(one).collect()
    }
}
