//! Which block of an older prompt became which block of a newer one, within a stretch in which the two differ.

use std::ops::Range;

use super::align::Gap;
use super::classify::contents;
use super::ends::CommonEnds;
use super::parts::PartEnds;
use super::sides::Sides;
use super::sign::split_digest;
use crate::wire::{BlockId, BlockKind, Blocks, Level, Role, json};

/// A changed block and its predecessor; one side is absent if a block was added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index in the older prompt.
    pub old: Option<usize>,
    /// Index in the newer prompt.
    pub new: Option<usize>,
    /// Position in the older prompt at this point.
    pub old_at: usize,
    /// Position in the newer prompt at this point.
    pub new_at: usize,
}

/// The pairs of a gap.
#[derive(Debug)]
pub(super) struct Pairs {
    /// In prompt order.
    pub pairs: Vec<Pair>,
    /// How many blocks resemble their partners, and do not merely share their place.
    pub alike: usize,
}

/// Two blocks of one kind are the same block, edited, if this share of their content (in tenths) is equal.
pub(super) const EDITED_TENTHS_MIN: usize = 5;

/// The same for blocks of another role or kind.
const RETOLD_TENTHS_MIN: usize = 8;

/// Most comparisons of contents in one gap; beyond them blocks are paired by order alone.
pub(super) const COMPARISONS_MAX: usize = 4_096;

/// Most blocks of the older prompt that are compared with one of the newer.
const LOOK_AHEAD_MAX: usize = 64;

/// Pairs the blocks of a gap: tools by name, calls and results by id, then the most similar ones, then blocks of the
/// same level, role and kind in order. Moved blocks and blocks that the newer prompt appends after the last block of
/// the older are in no pair.
pub(super) fn pairs(sides: &Sides<'_>, gap: &Gap) -> Pairs {
    let mut matched = Matched { sides, gap, found: Vec::new() };
    matched.by_name();
    matched.by_content();
    let alike = matched.found.len();
    matched.by_order();
    matched.by_place();
    let matches = matched.found;
    let open_end = gap.old.end == sides.old.len();
    let appended_from = matches.last().map_or(gap.new.start, |(_, new)| new + 1);
    let came = gap.new.clone().filter(|new| !open_end || *new < appended_from || gap.old.is_empty());
    let went = gap.old.clone().filter(|old| matches.iter().all(|(known, _)| known != old));
    let mut pairs: Vec<Pair> = came
        .map(|new| match matches.iter().find(|(_, known)| *known == new) {
            Some((old, _)) => Pair { old: Some(*old), new: Some(new), old_at: *old, new_at: new },
            None => Pair { old: None, new: Some(new), old_at: older_place(&matches, gap, new), new_at: new },
        })
        .chain(went.map(|old| Pair { old: Some(old), new: None, old_at: old, new_at: newer_place(&matches, gap, old) }))
        .collect();
    pairs.sort_by_key(|pair| (pair.new_at, pair.new.is_some(), pair.old_at));
    Pairs { pairs, alike }
}

/// Position in the older prompt at which the newer one adds block `new`.
fn older_place(matches: &[(usize, usize)], gap: &Gap, new: usize) -> usize {
    matches.iter().rev().find(|(_, known)| *known < new).map_or(gap.old.start, |(old, _)| old + 1)
}

/// Position in the newer prompt at which block `old` of the older is missing.
fn newer_place(matches: &[(usize, usize)], gap: &Gap, old: usize) -> usize {
    let before = matches.iter().filter(|(known, _)| *known < old).max();
    before.map_or(gap.new.start, |(_, new)| new + 1)
}

/// The pairs found so far, in the order of the newer prompt.
struct Matched<'a> {
    sides: &'a Sides<'a>,
    gap: &'a Gap,
    found: Vec<(usize, usize)>,
}

impl Matched<'_> {
    /// Blocks of the older prompt that have no partner and did not move.
    fn old_left(&self) -> Vec<usize> {
        let Self { sides, found, .. } = self;
        let has_moved = |at: usize| sides.has_moved(sides.old[at]) || sides.tool_from(at).is_some();
        let free =
            |at: &usize| found.iter().all(|(old, _)| old != at) && !has_moved(*at) && !sides.says_start(sides.old[*at]);
        self.gap.old.clone().filter(free).collect()
    }

    fn new_left(&self) -> Vec<usize> {
        let Self { sides, found, .. } = self;
        let has_moved = |at: usize| sides.has_moved(sides.new[at]) || sides.tool_to(at).is_some();
        let free =
            |at: &usize| found.iter().all(|(_, new)| new != at) && !has_moved(*at) && !sides.says_start(sides.new[*at]);
        self.gap.new.clone().filter(free).collect()
    }

    fn push(&mut self, old: usize, new: usize) {
        self.found.push((old, new));
        self.found.sort_unstable_by_key(|(_, new)| *new);
    }

    /// No pair crosses this one, from before `old` to after `new` or the other way round.
    fn keeps_order(&self, old: usize, new: usize) -> bool {
        self.found.iter().all(|(known_old, known_new)| (*known_old < old) == (*known_new < new))
    }

    fn by_name(&mut self) {
        let mut old_left = self.old_left();
        for new in self.new_left() {
            let is_it = |old: &usize| {
                same_name(self.sides, *old, new) || same_call(self.sides, *old, new) && self.keeps_order(*old, new)
            };
            if let Some(at) = old_left.iter().position(is_it) {
                self.push(old_left.remove(at), new);
            }
        }
    }

    /// Pairs each block of the newer prompt with the most similar one of its kind.
    fn by_content(&mut self) {
        let (old_left, new_left) = (self.old_left(), self.new_left());
        if old_left.len() * new_left.len() > COMPARISONS_MAX {
            return;
        }
        let candidates = new_left.iter().flat_map(|new| old_left.iter().map(|old| (*old, *new)));
        let mut candidates: Vec<(usize, usize, usize)> = candidates
            .filter_map(|(old, new)| Some((likeness(self.sides, old, new)?, old, new)))
            .filter(|(tenths, _, _)| *tenths >= EDITED_TENTHS_MIN)
            .collect();
        // At the end of the older prompt the newer one may repeat a text: the edited block is the one in the same
        // place.
        let open_end = self.gap.old.end == self.sides.old.len();
        let in_place = |old: usize, new: usize| open_end && self.in_place(old) == Some(new);
        let is_anew =
            |old: usize, new: usize| self.sides.old[old] == self.sides.new[new] || self.is_said_anew(old, new);
        candidates.retain(|(_, old, new)| in_place(*old, *new) || !open_end || !is_anew(*old, *new));
        candidates.sort_by_key(|(tenths, old, new)| (!in_place(*old, *new), 10 - tenths, *new, *old));
        for (_, old, new) in candidates {
            let free = self.found.iter().all(|(known_old, known_new)| *known_old != old && *known_new != new);
            if free && self.keeps_order(old, new) {
                self.push(old, new);
            }
        }
    }

    /// Index of the newer prompt's block that takes the place of the older one in the stretch.
    fn in_place(&self, old: usize) -> Option<usize> {
        let Self { sides, gap, .. } = self;
        let is_content = |block: &BlockId| !sides.says_start(*block);
        let before = sides.old[gap.old.start..old].iter().filter(|block| is_content(block)).count();
        gap.new.clone().filter(|at| is_content(&sides.new[*at])).nth(before)
    }

    /// The block at `new` answers the model, which said nothing after it, while a block of the same kind or the model's
    /// took the place of the older one, or its message now ends before it: the newest turn only says something similar.
    fn is_said_anew(&self, old: usize, new: usize) -> bool {
        let Self { sides, gap, .. } = self;
        let is_answer = |at: usize| sides.wire.blocks.role(sides.new[at]) == Role::Assistant;
        let Some(in_place) = self.in_place(old) else { return false };
        in_place < new
            && !(new..sides.new.len()).any(is_answer)
            && (gap.new.start..new).any(is_answer)
            && (sides.older.places[old].item != sides.newer.places[in_place].item
                || is_answer(in_place)
                || alike(sides, old, in_place))
    }

    /// Pairs blocks of one kind in order. At the end of the older prompt, where edits and appended blocks cannot be
    /// told apart, only blocks in the same place are paired.
    fn by_order(&mut self) {
        let open_end = self.gap.old.end == self.sides.old.len();
        let (old_left, before) = (self.old_left(), self.found.clone());
        let (mut from, mut known, mut parted) = (0, 0, false);
        for new in self.new_left() {
            while let Some((old, _)) = before.get(known).filter(|(_, at)| *at < new) {
                (from, known, parted) = (from.max(old + 1), known + 1, false);
            }
            let to = before[known..].iter().map(|(old, _)| *old).min().unwrap_or(usize::MAX);
            let first = old_left.partition_point(|old| *old < from);
            let mut room = old_left[first..].iter().take_while(|old| **old < to).take(LOOK_AHEAD_MAX);
            let fits = if open_end && self.is_content(self.sides.new[new]) {
                let next = room.find(|old| self.is_content(self.sides.old[**old]));
                next.filter(|old| !parted && alike(self.sides, **old, new))
            } else {
                room.find(|old| alike(self.sides, **old, new))
            };
            match fits {
                Some(old) => {
                    from = old + 1;
                    self.push(*old, new);
                }
                None => parted |= self.is_content(self.sides.new[new]),
            }
        }
    }

    /// A message block that is no parameter.
    fn is_content(&self, block: BlockId) -> bool {
        let blocks = &self.sides.wire.blocks;
        blocks.level(block) == Level::Messages && blocks.kind(block) != BlockKind::Parameters
    }

    /// The same content under another role or kind, or an image that was replaced.
    fn by_place(&mut self) {
        let (mut old_left, new_left) = (self.old_left(), self.new_left());
        if old_left.len() * new_left.len() > COMPARISONS_MAX {
            return;
        }
        let open_end = self.gap.old.end == self.sides.old.len();
        for new in new_left {
            let is_other = |old: usize| open_end && self.is_said_anew(old, new);
            let fits = |old: &usize| retold(self.sides, *old, new) && self.keeps_order(*old, new) && !is_other(*old);
            if let Some(at) = old_left.iter().position(fits) {
                self.push(old_left.remove(at), new);
            }
        }
    }
}

fn same_name(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let (old, new) = (sides.old[old], sides.new[new]);
    let blocks = &sides.wire.blocks;
    blocks.kind(old) == BlockKind::Tool
        && blocks.kind(new) == BlockKind::Tool
        && tool_name(blocks, old).is_some_and(|name| Some(name) == tool_name(blocks, new))
}

/// Results of the same call, or the same call.
fn same_call(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let blocks = &sides.wire.blocks;
    let call = |block: BlockId| {
        let key: &[u8] = match blocks.kind(block) {
            BlockKind::ToolUse => b"\"id\"",
            BlockKind::ToolResult => b"\"tool_use_id\"",
            _ => return None,
        };
        Some((blocks.kind(block), json::member(blocks.bytes(block), key)?))
    };
    call(sides.old[old]).is_some_and(|known| Some(known) == call(sides.new[new]))
}

fn alike(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let (old, new) = (sides.old[old], sides.new[new]);
    let blocks = &sides.wire.blocks;
    let what = |block: BlockId| (blocks.level(block), blocks.role(block), blocks.kind(block));
    what(old) == what(new) && (blocks.kind(new) != BlockKind::Tool || is_renamed(sides, old, new))
}

/// How much of two blocks of one kind, or of a block and the text that a client made of it, is equal, in tenths.
fn likeness(sides: &Sides<'_>, old: usize, new: usize) -> Option<usize> {
    match alike(sides, old, new) {
        true => Some(same_tenths(sides, old, new)),
        false => is_flattened(sides, old, new).then_some(RETOLD_TENTHS_MIN),
    }
}

/// Bytes of a call, a result or thinking that a text has to contain to be made of it.
const FLATTENED_BYTES: Range<usize> = 8..64;

/// Whether a text contains what a call, a result, thinking or a block of another type said: some clients keep histories as
/// plain text and send that when they load one again.
fn is_flattened(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let (was, is) = (sides.old[old], sides.new[new]);
    let blocks = &sides.wire.blocks;
    if blocks.kind(is) != BlockKind::Text || blocks.level(is) != Level::Messages || !sides.are_readable(was, is) {
        return false;
    }
    let text = |value: Option<&[u8]>| {
        value.and_then(|value| value.strip_prefix(b"\"")?.strip_suffix(b"\"")).map(<[u8]>::to_vec)
    };
    let bytes = blocks.bytes(was);
    let said = match blocks.kind(was) {
        BlockKind::ToolUse => json::member(bytes, b"\"input\"").and_then(|input| {
            json::members(input).flatten().filter_map(|(_, value)| text(Some(value))).max_by_key(Vec::len)
        }),
        BlockKind::ToolResult => {
            let texts = contents(bytes).into_iter().filter_map(|element| text(json::member(element, b"\"text\"")));
            texts.max_by_key(Vec::len).or_else(|| text(json::member(bytes, b"\"content\"")))
        }
        BlockKind::Thinking => text(json::member(bytes, b"\"thinking\"")),
        // A text within a block of another type, such as Converse's `guardContent`.
        BlockKind::Opaque => {
            let begins = memchr::memmem::find(bytes, b"\"text\":\"").map(|at| at + b"\"text\":\"".len());
            begins.and_then(|from| Some(bytes[from..].split(|byte| *byte == b'"').next()?.to_vec()))
        }
        _ => None,
    };
    let Some(said) = said.filter(|said| said.len() >= FLATTENED_BYTES.start) else { return false };
    let beginning = &said[..said.len().min(FLATTENED_BYTES.end)];
    memchr::memmem::find(blocks.bytes(is), beginning).is_some()
}

/// A renamed tool keeps its description or its schema; one that keeps neither is another tool. Digests do not show
/// this.
fn is_renamed(sides: &Sides<'_>, old: BlockId, new: BlockId) -> bool {
    if !sides.are_readable(old, new) {
        return true;
    }
    let (old, new) = (sides.bytes(Some(old)), sides.bytes(Some(new)));
    let fields = |text| {
        let of_the_tool = |(key, _): &(&[u8], &[u8])| matches!(*key, b"\"description\"" | b"\"input_schema\"");
        json::members(text).flatten().filter(of_the_tool).collect::<Vec<_>>()
    };
    let (old, new) = (fields(old), fields(new));
    old.iter().any(|field| new.contains(field)) || old.is_empty() || new.is_empty()
}

fn retold(sides: &Sides<'_>, old: usize, new: usize) -> bool {
    let blocks = &sides.wire.blocks;
    let (was, is) = (sides.old[old], sides.new[new]);
    let both_messages = blocks.level(was) == Level::Messages && blocks.level(is) == Level::Messages;
    let keys = [was, is].iter().any(|block| blocks.kind(*block) == BlockKind::Parameters);
    let place = |place: &crate::wire::Place| (place.item, place.part);
    let same_place = place(&sides.older.places[old]) == place(&sides.newer.places[new]);
    let same_role = blocks.role(was) == blocks.role(is);
    let may_share = || !sides.are_readable(was, is) || share_a_field(blocks.bytes(was), blocks.bytes(is));
    let replaced = blocks.kind(was) == BlockKind::Media || may_share();
    let in_place = same_role && same_place && replaced;
    both_messages && !keys && (in_place || same_tenths(sides, old, new) >= RETOLD_TENTHS_MIN)
}

/// The two objects share a member other than their type.
fn share_a_field(old: &[u8], new: &[u8]) -> bool {
    let fields = |text| json::members(text).flatten().filter(|(key, _)| *key != b"\"type\"").collect::<Vec<_>>();
    let new = fields(new);
    fields(old).iter().any(|member| new.contains(member))
}

/// The members of a text block besides its text.
const TEXT_ENVELOPE_BYTES: usize = r#"{"text":"","type":"text"}"#.len();

/// The share of the longer content that is equal at both ends, in tenths.
pub(super) fn same_tenths(sides: &Sides<'_>, old: usize, new: usize) -> usize {
    let blocks = &sides.wire.blocks;
    if !sides.are_readable(sides.old[old], sides.new[new]) {
        return same_tenths_of_outlines(blocks, sides.old[old], sides.new[new]);
    }
    let content = |block: BlockId| match sides.wire.blocks.kind(block) {
        BlockKind::ToolUse | BlockKind::ToolResult => without_id(sides.wire.blocks.bytes(block)),
        _ => sides.wire.blocks.bytes(block),
    };
    let (old, new) = (content(sides.old[old]), content(sides.new[new]));
    let longer = old.len().max(new.len());
    CommonEnds::of(old, new).len().saturating_sub(TEXT_ENVELOPE_BYTES) * 10
        / longer.saturating_sub(TEXT_ENVELOPE_BYTES).max(1)
}

/// The same for digests. A call or a result of the same length is the same one with another id: ids that are new each time
/// keep their length.
fn same_tenths_of_outlines(blocks: &Blocks, old: BlockId, new: BlockId) -> usize {
    let [old_len, new_len] = [old, new].map(|block| blocks.len_bytes(block));
    if old_len == new_len && matches!(blocks.kind(new), BlockKind::ToolUse | BlockKind::ToolResult) {
        return EDITED_TENTHS_MIN;
    }
    let longer = old_len.max(new_len).max(1);
    PartEnds::of(blocks, old, new).map_or(0, |ends| (ends.equal() * 10 / longer) as usize)
}

/// A call from its input on, a result up to its id: ids are random, so they resemble each other by chance.
fn without_id(block: &[u8]) -> &[u8] {
    let input = memchr::memmem::find(block, b",\"input\":");
    let call = memchr::memmem::rfind(block, b",\"tool_use_id\":");
    match (block.starts_with(b"{\"id\":"), input, call) {
        (true, Some(at), _) => &block[at..],
        (false, _, Some(at)) => &block[..at],
        _ => block,
    }
}

/// The name of a tool definition or of a tool call.
pub fn tool_name(blocks: &Blocks, block: BlockId) -> Option<String> {
    if blocks.is_outline(block) {
        let name = blocks.outline_name(block)?;
        return match blocks.kind(block) {
            BlockKind::ToolUse => Some(split_digest(name).0.to_owned()),
            BlockKind::Tool | BlockKind::ServerTool => Some(name.to_owned()),
            _ => None,
        };
    }
    json::string(json::member(blocks.bytes(block), b"\"name\"")?)
}
