//! What happened to a history as a whole: truncated, rewound, its end carried along.

use std::ops::Range;

use super::align::{Alignment, Gap};
use super::pairing::Pairs;
use super::sides::Sides;
use crate::wire::{BlockId, BlockKind, Level, Place, Request, Role};

/// Fewest messages after the first one that a sliding window removes together.
const WINDOW_MESSAGES_MIN: usize = 4;

/// Index of the first message block, after the parameters of the level.
pub(super) fn start(request: &Request) -> usize {
    let start = request.level_start(Level::Messages);
    let parameters = request.places.get(start).is_some_and(|place| place.item == Place::LEVEL_HEAD);
    start + usize::from(parameters)
}

/// Whether the older prompt's block at `at` is text that a client sends as system.
pub(super) fn is_system(sides: &Sides<'_>, at: usize) -> bool {
    sides.old.get(at).is_some_and(|block| sides.wire.blocks.role(*block) == Role::System)
}

/// Where the older history's first message ends. Text that the client sends as system before it is no history.
pub(super) fn first_message_end(sides: &Sides<'_>) -> usize {
    let from = (start(sides.older)..sides.old.len()).find(|at| !is_system(sides, *at)).unwrap_or(sides.old.len());
    let first = sides.older.places.get(from).map(|place| place.item);
    let rest = sides.older.places.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|place| Some(place.item) == first).count()
}

/// Where the first message ends, including system text of the client right after it.
pub(super) fn opening_end(sides: &Sides<'_>) -> usize {
    let from = first_message_end(sides);
    from + (from..sides.old.len()).take_while(|at| is_system(sides, *at)).count()
}

/// The older history ends at the gap, more than one of its messages is gone, and none of it returns, not even edited. Texts
/// of the client that the model answered may be gone without that.
pub(super) fn is_rewind(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    let from = gap.old.start.max(start(sides.older));
    let gone = sides.older.places.get(from..gap.old.end).unwrap_or_default();
    gap.old.end == alignment.old_len
        && gone.first().map(|place| place.item) != gone.last().map(|place| place.item)
        && pairs.alike * 2 < gone.len()
        && !(are_texts(sides, from..gap.old.end) && is_answered(sides, gap.new.clone()))
}

/// Most repeated blocks between two cuts of one truncation.
const REPEATED_BETWEEN_CUTS_MAX: usize = 3;

/// Whole messages were removed from the beginning of the history, or many after its first one. Repeated blocks may lie
/// between the removed ones: an alignment mistakes them for others of their kind.
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
    // If messages begin alike, the common beginning of both prompts reaches into the first removed message.
    let alike =
        (1..=from - start(sides.older)).take_while(|back| sides.old[from - back] == sides.old[gap.old.end - back]);
    let Some(back) = [0].into_iter().chain(alike).find(|back| whole(from - back) && whole(gap.old.end - back)) else {
        return false;
    };
    let (from, end) = (from - back, gap.old.end - back);
    let messages = item(end - 1).zip(item(from)).map_or(0, |(last, first)| (last - first).saturating_add(1));
    let slides = from <= opening_end(sides) && messages as usize >= WINDOW_MESSAGES_MIN && end < sides.old.len();
    from == start(sides.older) || slides
}

/// Separates the end of the older prompt from that of the newer one if an exchange was inserted before it: a text that a
/// client appends to its newest message, or after it, in every request did not stay, it moved.
pub(super) fn part_from_the_end(sides: &Sides<'_>, alignment: &mut Alignment) {
    let Some(at) = alignment.gaps.iter().rposition(|gap| gap.old.end < alignment.old_len) else { return };
    if let Some(end) = end_before_an_exchange(sides, alignment, at) {
        let gap = alignment.gaps[at].clone();
        let carried = gap.new.end..gap.new.end + alignment.gaps[at + 1].old.start - gap.old.end;
        alignment.partner[carried].fill(None);
        for (old, new) in end.clone().zip(gap.new.start..) {
            alignment.partner[new] = Some(old);
        }
        let behind = gap.new.start + end.len();
        let moved = Gap { old: gap.old.start..end.start, new: gap.new.start..gap.new.start };
        let appended = Gap { old: alignment.old_len..alignment.old_len, new: behind..sides.new.len() };
        alignment.gaps.splice(at.., [moved, appended]);
    } else if follows_the_end(sides, &alignment.gaps[at], alignment) {
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
    // Something else of the newest message may have changed as well.
    let is_inserted = gap.old.is_empty() || item(gap.old.start) == item(alignment.old_len - 1);
    let Some(before) = gap.old.end.checked_sub(1).filter(|_| is_inserted && !carried.is_empty()) else {
        return false;
    };
    let of_the_last = carried.clone().all(|at| item(at) == item(before));
    let ends_both = gap.new.end + carried.len() == sides.new.len();
    // A text with which the model's answer should begin.
    let is_prefill = ends_both && gap.old.is_empty() && carried.clone().all(|at| is_models_text(sides, sides.old[at]));
    let is_said = (of_the_last || ends_both) && are_texts(sides, carried);
    (is_said || is_prefill) && is_answered(sides, gap.new.clone())
}

/// The end of the older prompt if it precedes the exchange inserted by gap `at`, and if the alignment mistook for
/// unchanged the texts that a client appends to its newest message.
fn end_before_an_exchange(sides: &Sides<'_>, alignment: &Alignment, at: usize) -> Option<Range<usize>> {
    let [gap, last] = alignment.gaps.get(at..)? else { return None };
    let carried = gap.old.end..last.old.start;
    let end = sides.content_from(&sides.old, last.old.start)..alignment.old_len;
    let behind = gap.new.start + end.len();
    let stands = sides.new.get(gap.new.start..behind) == sides.old.get(end.clone());
    let item = |at: usize| sides.older.places[at].item;
    let of_one = carried.clone().all(|at| item(at) == item(carried.start));
    let is_whole = gap.old.is_empty() && last.old.end == alignment.old_len && !end.is_empty() && stands;
    let follows = is_whole && behind < gap.new.end && is_answered(sides, behind..gap.new.end);
    (follows && of_one && are_texts(sides, carried)).then_some(end)
}

fn is_models_text(sides: &Sides<'_>, block: BlockId) -> bool {
    sides.wire.blocks.kind(block) == BlockKind::Text && sides.wire.blocks.role(block) == Role::Assistant
}

fn are_texts(sides: &Sides<'_>, mut old: Range<usize>) -> bool {
    let is_said =
        |block| sides.wire.blocks.level(block) == Level::Messages && sides.wire.blocks.role(block) != Role::Assistant;
    let is_text = |block| sides.wire.blocks.kind(block) == BlockKind::Text && is_said(block);
    old.all(|at| is_text(sides.old[at]) || sides.says_start(sides.old[at]))
}

/// The model has a message within this stretch of the newer prompt.
fn is_answered(sides: &Sides<'_>, mut new: Range<usize>) -> bool {
    new.any(|at| sides.wire.blocks.role(sides.new[at]) == Role::Assistant)
}
