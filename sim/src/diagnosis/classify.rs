//! Which cause a difference is: pairs the blocks of a gap and reads the change off each pair.

use super::align::{Alignment, Gap};
use super::cause::Cause;
use super::difference::Sides;
use crate::wire::{BlockId, BlockKind, Level, Place, Wire, json};

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

/// Pairs the blocks of a gap: tools by name, then blocks of the same level and kind in their order.
pub(super) fn pairs(sides: &Sides<'_>, gap: &Gap) -> Vec<Pair> {
    let mut old_left: Vec<usize> = gap.old.clone().collect();
    let mut found = Vec::new();
    let mut unpaired = Vec::new();
    for new in gap.new.clone() {
        match old_left.iter().position(|old| same_name(sides, *old, new)) {
            Some(at) => found.push((Some(old_left.remove(at)), Some(new))),
            None => unpaired.push(new),
        }
    }
    for new in unpaired {
        let at = old_left.iter().position(|old| alike(sides, *old, new));
        found.push((at.map(|at| old_left.remove(at)), Some(new)));
    }
    found.extend(old_left.into_iter().map(|old| (Some(old), None)));
    found.sort_by_key(|(old, new)| (new.or(*old).unwrap_or(usize::MAX), *old));
    found
        .into_iter()
        .map(|(old, new)| Pair {
            old,
            new,
            old_at: old.unwrap_or(gap.old.start),
            new_at: new.unwrap_or_else(|| position_in_new(gap, old)),
        })
        .collect()
}

/// Where a removed block would stand in the newer prompt.
fn position_in_new(gap: &Gap, old: Option<usize>) -> usize {
    let step = old.map_or(0, |old| old - gap.old.start);
    (gap.new.start + step).min(gap.new.end)
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
    let same = |a: BlockId, b: BlockId| {
        blocks.level(a) == blocks.level(b) && blocks.role(a) == blocks.role(b) && blocks.kind(a) == blocks.kind(b)
    };
    // Equal blocks in one gap have moved past each other; they are told apart by their cause.
    same(old, new)
}

/// The cause of one pair of a gap.
pub(super) fn cause(sides: &Sides<'_>, pair: &Pair, gap: &Gap, alignment: &Alignment) -> Cause {
    let blocks = &sides.wire.blocks;
    let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
    let Some(shown) = new.or(old) else { return Cause::MessageEdited };
    if [old, new].into_iter().flatten().any(|block| blocks.kind(block) == BlockKind::Parameters) {
        return Cause::LevelParameter;
    }
    match blocks.level(shown) {
        Level::Tools => tools(sides, old, new),
        Level::System => Cause::SystemChanged,
        Level::Messages => messages(sides, pair, gap, alignment),
    }
}

fn tools(sides: &Sides<'_>, old: Option<BlockId>, new: Option<BlockId>) -> Cause {
    match (old, new) {
        (Some(_), Some(_)) => Cause::ToolChanged,
        (None, Some(new)) if sides.old.contains(&new) => Cause::ToolsReordered,
        (Some(old), None) if sides.new.contains(&old) => Cause::ToolsReordered,
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
        (None, Some(new)) if sides.old.contains(&new) => moved(sides, new),
        (Some(old), None) if sides.new.contains(&old) => moved(sides, old),
        (Some(old), None) => removed(sides, old, gap, alignment),
        _ => Cause::MessageInserted,
    }
}

fn moved(sides: &Sides<'_>, block: BlockId) -> Cause {
    match sides.wire.blocks.kind(block) {
        BlockKind::ToolResult => Cause::ResultsReordered,
        _ => Cause::MessageMoved,
    }
}

fn changed(sides: &Sides<'_>, old: BlockId, new: BlockId, gap: &Gap, alignment: &Alignment) -> Cause {
    let blocks = &sides.wire.blocks;
    if sides.new.contains(&old) && sides.old.contains(&new) {
        return moved(sides, new);
    }
    if same_but_order(blocks.bytes(old), blocks.bytes(new)) {
        return Cause::KeyOrder;
    }
    let cleared = blocks.len_bytes(new) <= CLEARED_BYTES_MAX && blocks.len_bytes(new) * 4 <= blocks.len_bytes(old);
    match blocks.kind(new) {
        BlockKind::Media => Cause::ImageChanged,
        BlockKind::ToolResult if cleared => Cause::ResultsCleared,
        _ if is_rewind(sides, gap, alignment) => Cause::Rewound,
        _ => Cause::MessageEdited,
    }
}

fn removed(sides: &Sides<'_>, old: BlockId, gap: &Gap, alignment: &Alignment) -> Cause {
    if sides.wire.blocks.kind(old) == BlockKind::Thinking {
        return Cause::ThinkingStripped;
    }
    if is_rewind(sides, gap, alignment) {
        return Cause::Rewound;
    }
    let start = sides.older.level_start(Level::Messages);
    let from_the_start = gap.old.start == start && gap.new.is_empty();
    if from_the_start { Cause::HistoryTruncated } else { Cause::MessageRemoved }
}

/// The older history broke off at the gap, more than one of its messages is gone, and nothing of it comes back.
fn is_rewind(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let last = gap.old.end == alignment.old_len;
    let items: Vec<u32> = gap.old.clone().map(|at| sides.older.places[at].item).collect();
    last && items.first() != items.last()
}

/// Next to nothing of a long history stays.
fn is_compaction(sides: &Sides<'_>, alignment: &Alignment) -> bool {
    let start = sides.newer.level_start(Level::Messages);
    let old_blocks = sides.old.len() - sides.older.level_start(Level::Messages);
    let kept = alignment.partner[start..].iter().flatten().count();
    old_blocks >= COMPACTED_BLOCKS_MIN
        && kept * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
        && sides.new.len() - start < old_blocks
}

/// Whether two JSON texts hold the same members in another order, at any depth.
fn same_but_order(old: &[u8], new: &[u8]) -> bool {
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
        BlockKind::Parameters => "parameter".to_owned(),
        BlockKind::Thinking => "thinking".to_owned(),
        BlockKind::Media => "image or document".to_owned(),
        BlockKind::ServerTool => "server tool".to_owned(),
        BlockKind::Opaque => "block of unknown type".to_owned(),
        BlockKind::Text if place.level == Level::System => "system text".to_owned(),
        BlockKind::Text => format!("{} text", wire.blocks.role(block).name()),
    }
}

/// The first member in which two objects differ.
pub(super) fn first_field(old: &[u8], new: &[u8]) -> Option<String> {
    let list = |text| json::members(text).flatten().collect::<Vec<_>>();
    let (old, new) = (list(old), list(new));
    let differing = new.iter().find(|member| !old.contains(member)).or_else(|| old.iter().find(|member| !new.contains(member)));
    differing.and_then(|(key, _)| json::string(key))
}
