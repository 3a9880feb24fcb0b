//! What happened to a history as a whole: summed up, cut off, gone back in.

use super::align::{Alignment, Gap};
use super::pairing::Pairs;
use super::sides::Sides;
use crate::wire::{BlockKind, Level, Place, Request, Role};

/// A history of which less than this share (in percent) stays was replaced, not edited.
const COMPACTED_KEPT_PERCENT_MAX: usize = 20;

/// Blocks that a history must lose for something short for that to be called a compaction.
const COMPACTED_BLOCKS_MIN: usize = 8;

/// How many times as many blocks as come in go away in a compaction that keeps the end of the history.
const COMPACTED_BLOCKS_RATIO: usize = 3;

/// Messages behind the first one that go away together when a window slides over the history.
const WINDOW_MESSAGES_MIN: usize = 4;

/// Where the messages begin, behind the parameters of their level.
pub(super) fn start(request: &Request) -> usize {
    let start = request.level_start(Level::Messages);
    let parameters = request.places.get(start).is_some_and(|place| place.item == Place::LEVEL_HEAD);
    start + usize::from(parameters)
}

/// Where the older message ends that the block at `from` is in.
fn message_end(sides: &Sides<'_>, from: usize) -> usize {
    let first = sides.older.places.get(from).map(|place| place.item);
    let rest = sides.older.places.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|place| Some(place.item) == first).count()
}

/// Where the first message ends, and what the client says for the system right behind it.
fn opening_end(sides: &Sides<'_>) -> usize {
    let from = start(sides.older);
    let first = sides.older.places.get(from).map(|place| place.item);
    let opens = |at: &usize| {
        let role = sides.wire.blocks.role(sides.old[*at]);
        sides.older.places.get(*at).map(|place| place.item) == first || role == Role::System
    };
    (from..sides.old.len()).take_while(opens).last().map_or(from, |at| at + 1)
}

/// What texts begin with that clients put in place of a history, as canonical bytes have it: Claude Code (all 34
/// compactions of recorded transcripts, 2026-01 to 2026-02), pi 0.73 and langchain's `SummarizationMiddleware`.
const SUMMARY_OPENINGS: [&[u8]; 3] = [
    b"This session is being continued from a previous conversation",
    b"The conversation history before this point was compacted into the following summary",
    b"Here is a summary of the conversation to date",
];

/// Whether the canonical bytes of a block are a text that a client put in place of a history.
pub fn is_summary(block: &[u8]) -> bool {
    let text = block.strip_prefix(br#"{"text":""#);
    text.is_some_and(|text| SUMMARY_OPENINGS.iter().any(|opening| text.starts_with(opening)))
}

/// The newer history begins with a summary, and nothing of the older one is left.
fn is_summary_alone(sides: &Sides<'_>, alignment: &Alignment) -> bool {
    let blocks = &sides.wire.blocks;
    // What clients say for the system is no history.
    let said = || (start(sides.newer)..sides.new.len()).filter(|at| blocks.role(sides.new[*at]) != Role::System);
    let is_summary = |at: usize| is_summary(blocks.bytes(sides.new[at]));
    said().any(is_summary) && said().all(|at| alignment.partner[at].is_none())
}

/// A summary stands for the history: next to nothing of a long one stays, or something short stands in place of its
/// beginning.
pub(super) fn is_compaction(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let from = start(sides.newer);
    let old_blocks = sides.old.len() - start(sides.older);
    let kept = alignment.partner[from..].iter().flatten().count();
    let begins = |gap: &Gap| gap.old.start < message_end(sides, start(sides.older)) && gap.new.end > from;
    let replaced = old_blocks >= COMPACTED_BLOCKS_MIN
        && kept * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
        && sides.new.len() - from < old_blocks
        && alignment.gaps.iter().any(begins);
    replaced || is_summed_up(sides, gap) || is_summary_alone(sides, alignment)
}

/// Something short stands for the beginning of the history, its end stays.
fn is_summed_up(sides: &Sides<'_>, gap: &Gap) -> bool {
    let (from, to) = (start(sides.older).max(gap.old.start), gap.old.end);
    let came = gap.new.end - gap.new.start.max(start(sides.newer)).min(gap.new.end);
    let is_text = |at: usize| sides.wire.blocks.kind(sides.new[at]) == BlockKind::Text;
    from <= opening_end(sides)
        && to.saturating_sub(from) >= COMPACTED_BLOCKS_MIN
        && to < sides.old.len()
        && came > 0
        && came * COMPACTED_BLOCKS_RATIO <= to - from
        && gap.new.clone().any(is_text)
}

/// The older history broke off at the gap, more than one of its messages is gone, and nothing of it comes back, not even
/// edited.
pub(super) fn is_rewind(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    let from = gap.old.start.max(start(sides.older));
    let gone = sides.older.places.get(from..gap.old.end).unwrap_or_default();
    gap.old.end == alignment.old_len
        && gone.first().map(|place| place.item) != gone.last().map(|place| place.item)
        && pairs.alike * 2 < gone.len()
}

/// Blocks that repeat and lie between two cuts of one truncation.
const REPEATED_BETWEEN_CUTS_MAX: usize = 3;

/// Whole messages went from the beginning of the history, or many from behind its first one. Blocks that repeat may lie
/// between what went: an alignment takes them for others of their kind.
pub(super) fn is_truncation(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let came = |gap: &Gap| gap.new.end > gap.new.start.max(start(sides.newer));
    let mut from = gap.old.start;
    let upwards = alignment.gaps.iter().rev().filter(|known| known.old.start <= gap.old.start);
    for cut in upwards {
        if came(cut) || from.saturating_sub(cut.old.end) > REPEATED_BETWEEN_CUTS_MAX {
            return false;
        }
        if is_cut_off(sides, cut) {
            return true;
        }
        from = cut.old.start;
    }
    false
}

fn is_cut_off(sides: &Sides<'_>, gap: &Gap) -> bool {
    let item = |at: usize| sides.older.places.get(at).map(|place| place.item);
    let from = gap.old.start.max(start(sides.older));
    if from >= gap.old.end {
        return false;
    }
    let whole = |at: usize| at == start(sides.older) || item(at) != item(at - 1);
    let messages = gap
        .old
        .end
        .checked_sub(1)
        .and_then(item)
        .zip(item(from))
        .map_or(0, |(last, first)| (last - first).saturating_add(1));
    let slides =
        from <= opening_end(sides) && messages as usize >= WINDOW_MESSAGES_MIN && gap.old.end < sides.old.len();
    whole(from) && whole(gap.old.end) && (from == start(sides.older) || slides)
}

/// Parts the end of the older prompt's last message from the newer one's, where an exchange came in before it: what a
/// client puts behind its newest message in each request did not stay, it moved.
pub(super) fn part_from_the_end(sides: &Sides<'_>, alignment: &mut Alignment) {
    let Some(at) = alignment.gaps.iter().rposition(|gap| gap.old.end < alignment.old_len) else { return };
    if follows_the_end(sides, &alignment.gaps[at], alignment) {
        let gap = &mut alignment.gaps[at];
        gap.old.end = alignment.old_len;
        gap.new.end = sides.new.len();
        alignment.partner[gap.new.clone()].fill(None);
        alignment.gaps.truncate(at + 1);
    }
}

fn follows_the_end(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let item = |at: usize| sides.older.places.get(at).map(|place| (place.level, place.item));
    let carried = gap.old.end..alignment.old_len;
    let Some(before) = gap.old.start.checked_sub(1).filter(|_| gap.old.is_empty() && !carried.is_empty()) else {
        return false;
    };
    let of_the_last = carried.clone().all(|at| item(at) == item(before));
    let is_text = |at: usize| sides.wire.blocks.kind(sides.old[at]) == BlockKind::Text;
    let answered = |at: usize| sides.wire.blocks.role(sides.new[at]) == Role::Assistant;
    of_the_last && carried.clone().all(is_text) && gap.new.clone().any(answered)
}
