//! Parts at their places in a prompt, and the rules that concern several of them before the path is laid.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{BlockId, BlockKind};
use super::json;
use super::level::{Level, Place, Role};
use super::parameters::PromptFacts;
use super::part::{Part, PartPlace};
use super::request::MissingTool;

/// A part at its place in the prompt, before the path is laid.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its contribution.
    pub part: Part,
    /// Its position in the body.
    pub place: Place,
}

impl Placed {
    /// `part` as one of element `item` of `level`.
    pub fn new(part: Part, level: Level, item: usize) -> Self {
        let item = u32::try_from(item).unwrap_or(u32::MAX - 1);
        let keys = part.kind == BlockKind::Parameters;
        Self { part, place: Place { level, item, part: part.index, keys } }
    }
}

/// The last calls seen so far, as a range of the placed parts: results after them are put into their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastCalls {
    from: usize,
    to: usize,
}

impl LastCalls {
    /// Puts the results of the message that begins at `from` into the order of the last calls before it.
    ///
    /// Undocumented: recordings show that clients which send parallel results in completion order do not break their
    /// prefix, and that the marker travels with its block (`observed.md` 1, recordings of 2026-01 to 2026-08).
    pub fn sort_results(&mut self, placed: &mut [Placed], from: usize) {
        let mut results = 0;
        for Placed { part, .. } in &placed[from..] {
            if part.kind == BlockKind::ToolUse {
                *self = Self { from, to: placed.len() };
                return;
            }
            results += usize::from(part.kind == BlockKind::ToolResult);
        }
        if results < 2 {
            return;
        }
        let is_result = |index: &usize| placed[*index].part.kind == BlockKind::ToolResult;
        let slots: Vec<usize> = (from..placed.len()).filter(is_result).collect();
        let ranks = self.ranks(placed);
        // A result without a known call comes last.
        let rank = |placed: Placed| ranks.get(&placed.part.call).copied().unwrap_or(usize::MAX);
        let mut sorted: Vec<(usize, Placed)> = slots.iter().map(|slot| (rank(placed[*slot]), placed[*slot])).collect();
        sorted.sort_by_key(|(rank, _)| *rank);
        for (slot, (_, result)) in slots.into_iter().zip(sorted) {
            placed[slot] = result;
        }
    }

    /// The index of each call among the last ones; of two with one id the first counts.
    fn ranks(self, placed: &[Placed]) -> BTreeMap<u64, usize> {
        let calls = placed[self.from..self.to].iter().map(|placed| placed.part.call).enumerate();
        calls.filter(|(_, call)| *call != 0).rev().map(|(at, call)| (call, at)).collect()
    }
}

/// Puts the results of each message into the order of the calls before it; the messages begin at `from`.
pub fn sort_results(placed: &mut [Placed], from: usize) {
    let mut calls = LastCalls::default();
    let mut end = from;
    while let Some(first) = placed.get(end) {
        let begin = end;
        let item = first.place.item;
        end += placed[begin..].iter().take_while(|placed| placed.place.item == item).count();
        calls.sort_results(&mut placed[..end], begin);
    }
}

/// Removes thinking from the model's turns before the last user turn without a tool result, except for the last `kept`
/// turns that have some.
pub fn strip_thinking(placed: &mut [Placed], kept: usize) {
    let turns = user_turns(placed);
    let Some(last) = turns.last().copied() else { return };
    let is_thinking =
        |placed: &Placed| placed.part.kind == BlockKind::Thinking && placed.place.level == Level::Messages;
    let turn = |item: u32| turns.iter().filter(|begins| **begins <= item).count();
    let thoughtful: BTreeSet<usize> =
        placed.iter().filter(|placed| is_thinking(placed)).map(|placed| turn(placed.place.item)).collect();
    let kept: BTreeSet<usize> = thoughtful.into_iter().rev().take(kept).collect();
    for placed in placed.iter_mut().filter(|placed| is_thinking(placed)) {
        if placed.place.item < last && !kept.contains(&turn(placed.place.item)) {
            placed.part.place = PartPlace::Excluded;
        }
    }
}

/// The indices of user messages without a tool result, with which turns begin; messages with thinking are no user messages.
fn user_turns(placed: &[Placed]) -> Vec<u32> {
    let messages = placed.iter().filter(|placed| placed.place.level == Level::Messages);
    let mut plain: BTreeMap<u32, bool> = BTreeMap::new();
    for Placed { part, place } in messages {
        let is_plain = part.role == Role::User && part.kind != BlockKind::ToolResult;
        plain.entry(place.item).and_modify(|all| *all &= is_plain).or_insert(is_plain);
    }
    plain.into_iter().filter(|(_, plain)| *plain).map(|(item, _)| item).collect()
}

/// The type of a block that names a tool.
pub const TOOL_REFERENCE: &[u8] = b"\"tool_reference\"";

/// Removes unmarked tools that the messages name: such a tool is loaded where it is named, whether or not its definition says
/// that its loading is deferred (a proxy may have dropped that; `observed.md` 6, one capture of 2026-08).
/// Returns the first name without a tool, which the provider refuses.
pub fn defer_named<'a>(placed: &mut [Placed], bytes: impl Fn(BlockId) -> &'a [u8]) -> Option<MissingTool> {
    let mut names = BTreeMap::new();
    for Placed { part, place } in placed.iter().filter(|placed| placed.part.names_tools) {
        let mut found = BTreeSet::new();
        named_tools(bytes(part.block), &mut found);
        found.into_iter().for_each(|name| *names.entry(name).or_insert(*place) = *place);
    }
    if names.is_empty() {
        return None;
    }
    let is_tool = |placed: &&Placed| placed.place.level == Level::Tools;
    let declared = |part: &Part| json::member(bytes(part.block), b"\"name\"");
    let known: BTreeSet<&[u8]> = placed.iter().take_while(is_tool).filter_map(|tool| declared(&tool.part)).collect();
    // The tools of a server are not listed.
    let is_named = |tool: &Placed| declared(&tool.part).is_some();
    let are_listed = placed.iter().take_while(is_tool).all(is_named);
    let missing = names.iter().filter(|(name, _)| are_listed && !known.contains(*name));
    let missing = missing.min_by_key(|(_, place)| **place);
    let missing = missing.map(|(name, place)| MissingTool {
        place: *place,
        name: String::from_utf8_lossy(name).trim_matches('"').to_owned(),
    });
    let tools = placed.iter_mut().take_while(|placed| placed.place.level == Level::Tools);
    for Placed { part, .. } in tools.filter(|tool| tool.part.marker.is_none()) {
        if json::member(bytes(part.block), b"\"name\"").is_some_and(|name| names.contains_key(name)) {
            part.place = PartPlace::Excluded;
        }
    }
    missing
}

/// Names in `tool_reference` blocks at any depth.
fn named_tools<'a>(raw: &'a [u8], names: &mut BTreeSet<&'a [u8]>) {
    match raw.first() {
        Some(b'{') => {
            if json::member(raw, b"\"type\"") == Some(TOOL_REFERENCE) {
                names.extend(json::member(raw, b"\"tool_name\""));
            }
            json::members(raw).flatten().for_each(|(_, value)| named_tools(value, names));
        }
        Some(b'[') => json::elements(raw).flatten().for_each(|value| named_tools(value, names)),
        _ => {}
    }
}

/// Removes the messages before the last block `compaction`: the provider ignores them (Messages API, compaction, beta
/// `compact-2026-01-12`, 2026-09).
pub fn forget_compacted<'a>(placed: &mut [Placed], bytes: impl Fn(BlockId) -> &'a [u8]) {
    let is_compaction = |placed: &Placed| {
        placed.place.level == Level::Messages
            && placed.part.kind == BlockKind::Opaque
            && json::member(bytes(placed.part.block), b"\"type\"") == Some(b"\"compaction\"")
    };
    let Some(last) = placed.iter().rposition(is_compaction) else { return };
    let is_forgotten =
        |placed: &&mut Placed| placed.place.level == Level::Messages && placed.part.place == PartPlace::Prompt;
    for Placed { part, .. } in placed[..last].iter_mut().filter(is_forgotten) {
        part.place = PartPlace::Compacted;
    }
}

/// Facts on which the parameters of the levels depend; `bytes` returns the canonical bytes of a block.
pub fn facts(placed: &[Placed], bytes: impl Fn(BlockId) -> Vec<u8>) -> PromptFacts {
    let mut facts = PromptFacts::default();
    for Placed { part, .. } in placed {
        facts.citations |= part.citations;
        facts.image |= part.image;
        if part.place == PartPlace::SystemHead {
            facts.system_tools.push(bytes(part.block));
        }
    }
    facts
}
