//! Which cause a difference is: pairs the blocks of a gap and reads the change off each pair.

use super::align::{Alignment, Gap};
use super::cause::Cause;
use super::difference::Sides;
use crate::wire::{BlockId, BlockKind, Level, Place, Request, Wire, json};

/// A changed block and what it was; one side is absent where a block came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index in the older prompt.
    pub old: Option<usize>,
    /// Index in the newer prompt.
    pub new: Option<usize>,
    /// Where the older prompt stands at this point.
    pub old_at: usize,
    /// Where the newer prompt stands at this point.
    pub new_at: usize,
}

/// A result this short, in place of one at least four times as long, was cleared and not rewritten.
const CLEARED_BYTES_MAX: u64 = 256;

/// A history of which less than this share (in percent) stays was replaced, not edited.
const COMPACTED_KEPT_PERCENT_MAX: usize = 20;

/// Messages that a history must have had for its replacement to be called a compaction.
const COMPACTED_BLOCKS_MIN: usize = 8;

/// Pairs the blocks of a gap: tools by name, then blocks of the same level, role and kind in their order. What the newer
/// prompt appends behind the last block of the older is no part of any pair.
pub(super) fn pairs(sides: &Sides<'_>, gap: &Gap) -> Vec<Pair> {
    let matches = matches(sides, gap);
    let open_end = gap.old.end == sides.old.len();
    let appended_from = matches.last().map_or(gap.new.start, |(_, new)| new + 1);
    let came = gap.new.clone().filter(|new| !open_end || *new < appended_from || gap.old.is_empty());
    let went = gap.old.clone().filter(|old| matches.iter().all(|(known, _)| known != old));
    let mut found: Vec<Pair> = came
        .map(|new| match matches.iter().find(|(_, known)| *known == new) {
            Some((old, _)) => Pair { old: Some(*old), new: Some(new), old_at: *old, new_at: new },
            None => Pair { old: None, new: Some(new), old_at: older_place(&matches, gap, new), new_at: new },
        })
        .chain(went.map(|old| Pair { old: Some(old), new: None, old_at: old, new_at: newer_place(&matches, gap, old) }))
        .collect();
    found.sort_by_key(|pair| (pair.new_at, pair.new.is_some(), pair.old_at));
    found
}

/// Which block of the older prompt became which of the newer, in the newer's order.
fn matches(sides: &Sides<'_>, gap: &Gap) -> Vec<(usize, usize)> {
    let mut old_left: Vec<usize> = gap.old.clone().collect();
    let mut new_left: Vec<usize> = gap.new.clone().collect();
    let mut found = Vec::new();
    for belong in [same_name, alike] {
        new_left.retain(|new| match old_left.iter().position(|old| belong(sides, *old, *new)) {
            Some(at) => {
                found.push((old_left.remove(at), *new));
                false
            }
            None => true,
        });
    }
    found.sort_unstable_by_key(|(_, new)| *new);
    found
}

/// Where the older prompt stands when the newer one brings the block `new`.
fn older_place(matches: &[(usize, usize)], gap: &Gap, new: usize) -> usize {
    matches.iter().rev().find(|(_, known)| *known < new).map_or(gap.old.start, |(old, _)| old + 1)
}

/// Where the newer prompt stands when it lacks the block `old` of the older.
fn newer_place(matches: &[(usize, usize)], gap: &Gap, old: usize) -> usize {
    let before = matches.iter().filter(|(known, _)| *known < old).max();
    before.map_or(gap.new.start, |(_, new)| new + 1)
}

fn same_name(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let (old, new) = (sides.old[old], sides.new[new]);
    let blocks = &sides.wire.blocks;
    blocks.kind(old) == BlockKind::Tool
        && blocks.kind(new) == BlockKind::Tool
        && tool_name(blocks.bytes(old)).is_some_and(|name| Some(name) == tool_name(blocks.bytes(new)))
}

fn alike(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let (old, new) = (sides.old[old], sides.new[new]);
    let blocks = &sides.wire.blocks;
    let what = |block: BlockId| (blocks.level(block), blocks.role(block), blocks.kind(block));
    what(old) == what(new)
}

/// The cause of one pair of a gap.
pub(super) fn cause(sides: &Sides<'_>, pair: &Pair, gap: &Gap, alignment: &Alignment) -> Cause {
    let blocks = &sides.wire.blocks;
    let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
    let Some(shown) = new.or(old) else { return Cause::MessageEdited };
    if sides.is_level_head(pair) {
        return Cause::LevelParameter;
    }
    match blocks.level(shown) {
        Level::Tools => tools(sides, old, new, alignment),
        Level::System => Cause::SystemChanged,
        Level::Messages => messages(sides, pair, gap, alignment),
    }
}

fn tools(sides: &Sides<'_>, old: Option<BlockId>, new: Option<BlockId>, alignment: &Alignment) -> Cause {
    match (old, new) {
        (Some(_), Some(_)) => Cause::ToolChanged,
        (None, Some(block)) | (Some(block), None) if has_moved(sides, block, alignment) => Cause::ToolsReordered,
        (None, _) => Cause::ToolsAdded,
        (_, None) => Cause::ToolsRemoved,
    }
}

fn messages(sides: &Sides<'_>, pair: &Pair, gap: &Gap, alignment: &Alignment) -> Cause {
    let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
    if is_compaction(sides, alignment) {
        return Cause::Compacted;
    }
    match (old, new) {
        (Some(old), Some(new)) => changed(sides, old, new, gap, alignment),
        (None, Some(block)) | (Some(block), None) if has_moved(sides, block, alignment) => moved(sides, block),
        _ if is_rewind(sides, gap, alignment) => Cause::Rewound,
        (Some(old), None) => removed(sides, old, gap),
        _ => Cause::MessageInserted,
    }
}

/// The block stands in both prompts, and in each of them at a place without a partner. A block that merely repeats an
/// earlier one has not moved.
fn has_moved(sides: &Sides<'_>, block: BlockId, alignment: &Alignment) -> bool {
    let gone = alignment.gaps.iter().flat_map(|gap| gap.old.clone()).any(|at| sides.old[at] == block);
    gone && alignment.gaps.iter().flat_map(|gap| gap.new.clone()).any(|at| sides.new[at] == block)
}

fn moved(sides: &Sides<'_>, block: BlockId) -> Cause {
    match sides.wire.blocks.kind(block) {
        BlockKind::ToolResult => Cause::ResultsReordered,
        _ => Cause::MessageMoved,
    }
}

fn changed(sides: &Sides<'_>, old: BlockId, new: BlockId, gap: &Gap, alignment: &Alignment) -> Cause {
    let blocks = &sides.wire.blocks;
    if has_moved(sides, old, alignment) && has_moved(sides, new, alignment) {
        return moved(sides, new);
    }
    if same_but_order(blocks.bytes(old), blocks.bytes(new)) {
        return Cause::KeyOrder;
    }
    let cleared = blocks.len_bytes(new) <= CLEARED_BYTES_MAX && blocks.len_bytes(new) * 4 <= blocks.len_bytes(old);
    match blocks.kind(new) {
        _ if is_rewind(sides, gap, alignment) => Cause::Rewound,
        BlockKind::Media => Cause::ImageChanged,
        BlockKind::ToolResult if cleared => Cause::ResultsCleared,
        _ => Cause::MessageEdited,
    }
}

fn removed(sides: &Sides<'_>, old: BlockId, gap: &Gap) -> Cause {
    if sides.wire.blocks.kind(old) == BlockKind::Thinking {
        return Cause::ThinkingStripped;
    }
    let item = |at: usize| sides.older.places.get(at).map(|place| place.item);
    let whole_messages = item(gap.old.end) != item(gap.old.end - 1);
    let from_the_start = gap.old.start == history_start(sides.older) && gap.new.is_empty();
    if from_the_start && whole_messages { Cause::HistoryTruncated } else { Cause::MessageRemoved }
}

/// Where the messages begin, behind the parameters of their level.
fn history_start(request: &Request) -> usize {
    let start = request.level_start(Level::Messages);
    let parameters = request.places.get(start).is_some_and(|place| place.item == Place::LEVEL_HEAD);
    start + usize::from(parameters)
}

/// The older history broke off at the gap, more than one of its messages is gone, and nothing of it comes back.
fn is_rewind(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let from = gap.old.start.max(history_start(sides.older));
    let gone = sides.older.places.get(from..gap.old.end).unwrap_or_default();
    gap.old.end == alignment.old_len && gone.first().map(|place| place.item) != gone.last().map(|place| place.item)
}

/// Next to nothing of a long history stays.
fn is_compaction(sides: &Sides<'_>, alignment: &Alignment) -> bool {
    let start = history_start(sides.newer);
    let old_blocks = sides.old.len() - history_start(sides.older);
    let kept = alignment.partner[start..].iter().flatten().count();
    old_blocks >= COMPACTED_BLOCKS_MIN
        && kept * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
        && sides.new.len() - start < old_blocks
}

/// Whether two JSON texts hold the same members in another order, at any depth.
pub(super) fn same_but_order(old: &[u8], new: &[u8]) -> bool {
    if old.len() != new.len() || old == new {
        return false;
    }
    // Equal length and equal bytes in sum come first: trees are built only for likely candidates.
    let sum = |text: &[u8]| text.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    if sum(old) != sum(new) {
        return false;
    }
    let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    value(old).is_some_and(|old| value(new) == Some(old))
}

/// The name of a tool's definition or of a tool call.
fn tool_name(bytes: &[u8]) -> Option<String> {
    let field = json::members(bytes).flatten().find(|(key, _)| *key == b"\"name\"")?;
    json::string(field.1)
}

/// What a block is called in a report.
pub(super) fn title(wire: &Wire, block: BlockId, place: Place) -> String {
    let named = |what: &str| match tool_name(wire.blocks.bytes(block)) {
        Some(name) => format!("{what} `{name}`"),
        None => what.to_owned(),
    };
    match wire.blocks.kind(block) {
        BlockKind::Tool => named("tool"),
        BlockKind::ToolUse => named("tool use"),
        BlockKind::ToolResult => "tool result".to_owned(),
        BlockKind::Parameters => "keys of the message".to_owned(),
        BlockKind::Thinking => "thinking".to_owned(),
        BlockKind::Media => "image or document".to_owned(),
        BlockKind::ServerTool => "server tool".to_owned(),
        BlockKind::Opaque => "block of unknown type".to_owned(),
        BlockKind::Text if place.level == Level::System => "system text".to_owned(),
        BlockKind::Text => format!("{} text", wire.blocks.role(block).name()),
    }
}

/// The members in which two objects differ, each once: the newer one's in their order, then those that went.
pub(super) fn differing_fields(old: &[u8], new: &[u8]) -> Vec<String> {
    let list = |text| json::members(text).flatten().collect::<Vec<_>>();
    let (old, new) = (list(old), list(new));
    let came = new.iter().filter(|member| !old.contains(member));
    let went = old.iter().filter(|member| !new.contains(member));
    let mut fields: Vec<String> = Vec::new();
    for field in came.chain(went).filter_map(|(key, _)| json::string(key)) {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields
}
