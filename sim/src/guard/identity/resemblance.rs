//! How much two prompts have in common where no id says that they belong together.

use crate::diagnosis::{Cause, compare};
use crate::wire::{BlockId, Level, Request, Role, SharedEnds, Wire};

/// What was said in a request, block by block. What clients put in between for the system (environment, skills) is no
/// history: agents of one kind all have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct History {
    blocks: Vec<BlockId>,
    /// Messages that these stand in.
    pub messages: usize,
}

/// What two histories share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// Blocks, aligned from both ends.
    pub blocks: usize,
    /// The last block of the older history is among them.
    pub holds_last: bool,
    /// They are more than half of the shorter history.
    pub most: bool,
}

impl History {
    /// The history of a request.
    pub fn of(wire: &Wire, request: &Request) -> Self {
        let mut history = Self { blocks: Vec::with_capacity(request.nodes.len()), messages: 0 };
        let mut last = None;
        for (item, block) in said(wire, request).filter(|(_, block)| wire.blocks.role(*block) != Role::System) {
            history.blocks.push(block);
            history.messages += usize::from(last.replace(item) != Some(item));
        }
        history
    }

    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// What `newer` shares with it.
    pub fn shared(&self, newer: &Self) -> Shared {
        let ends = SharedEnds::of(&self.blocks, &newer.blocks);
        let blocks = ends.len();
        let holds_last = blocks > 0 && (ends.start == self.len() || ends.end > 0);
        Shared { blocks, holds_last, most: blocks * 2 > self.len().min(newer.len()) }
    }
}

/// The blocks of a request's messages, each with the number of its message, without the keys of level and messages.
pub(super) fn said<'a>(wire: &'a Wire, request: &'a Request) -> impl Iterator<Item = (u32, BlockId)> + 'a {
    let from = request.level_start(Level::Messages);
    let blocks = request.nodes[from..].iter().zip(&request.places[from..]).filter(|(_, place)| !place.keys);
    blocks.filter_map(|(node, place)| Some((place.item, wire.prefixes.block(*node)?)))
}

/// Least share of bytes, in percent, that the tools of two agents of one kind have in common: one that came, went or
/// changed leaves most of the others.
const TOOLS_PERCENT_MIN: u64 = 50;

/// The same of their system prompts. Kinds of agents share notes on their surroundings, hence so much.
const SYSTEM_PERCENT_MIN: u64 = 90;

/// Whether two requests have the tools and the system prompt of one kind of agent, give or take a change.
pub(super) fn resembles(wire: &Wire, older: &Request, newer: &Request) -> bool {
    percent(wire, older, newer, Level::Tools) >= TOOLS_PERCENT_MIN
        && percent(wire, older, newer, Level::System) >= SYSTEM_PERCENT_MIN
}

/// How sure it is, by tools and system prompt alone, that a later request is of a known agent. The surer stands later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// One of the two is the same, or both changed a little: another kind of agent may have that too.
    Partial,
    /// One of the two is the same, and the other changed a little.
    Alike,
    /// Both are the same, and so are model and parameters.
    Same,
}

/// How alike the tools and the system prompts of two requests are; `None` where one has neither, or they are of other kinds.
pub(super) fn likeness(wire: &Wire, older: &Request, newer: &Request) -> Option<Likeness> {
    if is_same_head(older, newer) {
        return Some(Likeness::Same);
    }
    let levels = [Level::Tools, Level::System].map(|level| level_blocks(wire, newer, level));
    let [tools, system] = &levels;
    let same = |level, blocks: &[BlockId]| !blocks.is_empty() && blocks == level_blocks(wire, older, level);
    let one_is_same = same(Level::Tools, tools) || same(Level::System, system);
    match (one_is_same, levels.iter().any(|blocks| !blocks.is_empty()) && resembles(wire, older, newer)) {
        (true, true) => Some(Likeness::Alike),
        (true, false) | (false, true) => Some(Likeness::Partial),
        (false, false) => None,
    }
}

/// Whether two requests have the very same tools and system prompt, model and parameters, and not only nothing.
pub(super) fn is_same_head(older: &Request, newer: &Request) -> bool {
    let head = |request: &Request| request.level_start(Level::Messages).checked_sub(1).map(|last| request.nodes[last]);
    head(newer).is_some_and(|newer| head(older) == Some(newer))
}

/// Whether two first requests are of agents of one kind. Another kind has other tools or another prompt, and often both, so
/// one of them has to be the same. Where it is only the system prompt that differs, kinds with like prompts are told apart
/// from one kind whose prompt moved: it `is_known` that two before were alike, or what differs varies by itself.
pub(super) fn is_of_kind(wire: &Wire, older: &Request, newer: &Request, is_known: bool) -> bool {
    let same = |level| level_blocks(wire, older, level) == level_blocks(wire, newer, level);
    if !resembles(wire, older, newer) || !(same(Level::Tools) || same(Level::System)) {
        return false;
    }
    is_known || same(Level::System) || {
        let differences = compare(wire, older, newer).differences;
        differences.iter().filter(|found| found.cause == Cause::SystemChanged).all(|found| found.volatile.is_some())
    }
}

/// Share of the bytes of a level that two requests have in common; all of it where neither has any.
fn percent(wire: &Wire, older: &Request, newer: &Request, level: Level) -> u64 {
    let (mut old, mut new) = (level_blocks(wire, older, level), level_blocks(wire, newer, level));
    let len = |block: &BlockId| wire.blocks.len_bytes(*block);
    let whole = old.iter().map(len).sum::<u64>().max(new.iter().map(len).sum());
    let mut alike = 0;
    old.retain(|block| match new.iter().position(|known| known == block) {
        Some(at) => {
            alike += len(&new.remove(at));
            false
        }
        None => true,
    });
    alike += old
        .iter()
        .zip(&new)
        .map(|(old, new)| alike_bytes(wire.blocks.bytes(*old), wire.blocks.bytes(*new)))
        .sum::<u64>();
    (alike * 100).checked_div(whole).unwrap_or(100)
}

fn level_blocks(wire: &Wire, request: &Request, level: Level) -> Vec<BlockId> {
    let here = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.level == level && !place.keys);
    here.filter_map(|(node, _)| wire.prefixes.block(*node)).collect()
}

/// Bytes that two texts begin and end with alike.
pub(super) fn alike_bytes(old: &[u8], new: &[u8]) -> u64 {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    (start + end) as u64
}
