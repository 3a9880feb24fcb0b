//! What happened to a history as a whole: summed up, cut off, gone back in.

use super::align::{Alignment, Gap};
use super::pairing::Pairs;
use super::sides::Sides;
use crate::wire::{BlockId, BlockKind, Blocks, Level, Place, Request, Role, json};

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

/// Whether the older prompt's block at `at` is what a client says for the system.
fn is_system(sides: &Sides<'_>, at: usize) -> bool {
    sides.old.get(at).is_some_and(|block| sides.wire.blocks.role(*block) == Role::System)
}

/// Where the older history's first message ends. What the client says for the system before it is no history.
fn first_message_end(sides: &Sides<'_>) -> usize {
    let from = (start(sides.older)..sides.old.len()).find(|at| !is_system(sides, *at)).unwrap_or(sides.old.len());
    let first = sides.older.places.get(from).map(|place| place.item);
    let rest = sides.older.places.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|place| Some(place.item) == first).count()
}

/// Where the first message ends, and what the client says for the system right behind it.
fn opening_end(sides: &Sides<'_>) -> usize {
    let from = first_message_end(sides);
    from + (from..sides.old.len()).take_while(|at| is_system(sides, *at)).count()
}

/// What a user's text begins with that a client put in place of a history, as canonical bytes have it. Of recordings: Claude
/// Code (all 34 compactions of transcripts, 2026-01 to 2026-02). Of published sources, read 2026-11: Cline
/// (`continuationPrompt`, the words of Claude Code behind a line's end); pi (`COMPACTION_SUMMARY_PREFIX` and, on the way back
/// from a branch, `BRANCH_SUMMARY_PREFIX`); `SummarizationMiddleware` of langchain and of deepagents; Codex
/// (`summary_prefix.md`, and `history_bridge.md` of 2025); Copilot CLI, resumed, as others recorded it; Gemini CLI and its kin
/// (`ChatCompressionService`); aider (`summary_prefix`); the tool runner of Anthropic's SDKs before their first version
/// (`compaction_control`: a model's summary in the tags that it was asked for). opencode and OpenHands put no words of their
/// own around what the model wrote.
const SUMMARY_OPENINGS: [&[u8]; 11] = [
    b"This session is being continued from a previous conversation",
    b"The conversation history before this point was compacted into the following summary",
    b"The following is a summary of a branch that this conversation came back from",
    b"Here is a summary of the conversation to date",
    b"You are in the middle of a conversation that has been summarized",
    b"Another language model started to solve this problem",
    b"You were originally given instructions from a user over one or more turns",
    b"Some of the conversation history has been summarized to free up context",
    b"<state_snapshot>",
    b"I spoke to you previously about a number of things",
    b"<summary>",
];

/// Types of blocks that a provider put in place of a history, as canonical bytes have them: Anthropic's and OpenAI's of
/// compaction on the server's side (both sources read 2026-11), and what Codex called its own.
const SUMMARY_TYPES: [&[u8]; 3] = [br#""compaction""#, br#""compaction_summary""#, br#""context_compaction""#];

/// Whether a block was put in place of a history, by a client or by a provider.
pub fn is_summary(blocks: &Blocks, block: BlockId) -> bool {
    let bytes = blocks.bytes(block);
    match blocks.kind(block) {
        BlockKind::Text => blocks.role(block) == Role::User && begins_as_summary(bytes),
        BlockKind::Opaque => {
            json::members(bytes).flatten().any(|(key, value)| key == br#""type""# && SUMMARY_TYPES.contains(&value))
        }
        _ => false,
    }
}

fn begins_as_summary(block: &[u8]) -> bool {
    let Some(mut text) = block.strip_prefix(br#"{"text":""#) else { return false };
    while let Some(behind) = text.strip_prefix(br"\n").or_else(|| text.strip_prefix(b" ")) {
        text = behind;
    }
    SUMMARY_OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// Something that a client says in place of a history came in where some of it went. A summary that was only edited stands
/// for the same history.
fn is_told(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let blocks = &sides.wire.blocks;
    let came = |gap: &Gap| sides.new[gap.new.clone()].iter().any(|block| is_summary(blocks, *block));
    let went = |gap: &Gap| {
        let from = gap.old.start.max(start(sides.older)).min(gap.old.end);
        sides.old[from..gap.old.end].iter().any(|block| !is_summary(blocks, *block))
    };
    let joined = joined(sides, gap, alignment);
    joined.iter().any(came) && joined.iter().any(went)
}

/// A summary stands for the history: next to nothing of a long one stays, something short stands in place of its
/// beginning, or the client says so.
pub(super) fn is_compaction(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    is_replaced(sides, gap, alignment, pairs) || is_summed_up(sides, gap, alignment) || is_told(sides, gap, alignment)
}

/// Next to nothing of a long history stays, and what stands for it is shorter. What the client says for the system and
/// kept is no history.
fn is_replaced(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    let from = start(sides.newer);
    let is_kept = |at: &usize| alignment.partner[*at].is_some();
    let (system, kept): (Vec<usize>, Vec<usize>) =
        (from..sides.new.len()).filter(is_kept).partition(|at| sides.wire.blocks.role(sides.new[*at]) == Role::System);
    let old_blocks = (sides.old.len() - start(sides.older)).saturating_sub(system.len());
    let new_blocks = |to: usize| to.saturating_sub(from) - system.iter().filter(|at| **at < to).count();
    let begins = |gap: &Gap| gap.old.start < first_message_end(sides) && gap.new.end > from;
    // A turn behind a summary may be longer than the history was that it stands for.
    let is_short =
        || new_blocks(newest_turn(sides)) * COMPACTED_BLOCKS_RATIO <= old_blocks && pairs.alike * 2 < gap.old.len();
    old_blocks >= COMPACTED_BLOCKS_MIN
        && kept.len() * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
        && alignment.gaps.iter().any(begins)
        && (new_blocks(sides.new.len()) < old_blocks || is_short())
}

/// Where the newest turn of the newer history begins: the model's last words, and all behind them. A request adds one turn
/// to the one before.
fn newest_turn(sides: &Sides<'_>) -> usize {
    let is_answer = |at: &usize| sides.wire.blocks.role(sides.new[*at]) == Role::Assistant;
    let from = start(sides.newer);
    let last = (from..sides.new.len()).rev().find(is_answer);
    last.map_or(sides.new.len(), |last| (from..=last).rev().take_while(is_answer).last().unwrap_or(last))
}

/// Something short stands for the beginning of the history, its end stays.
fn is_summed_up(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment) -> bool {
    let joined = joined(sides, gap, alignment);
    let old = |gap: &Gap| gap.old.start.max(start(sides.older)).min(gap.old.end)..gap.old.end;
    let new = |gap: &Gap| gap.new.start.max(start(sides.newer)).min(gap.new.end)..gap.new.end;
    let gone: usize = joined.iter().map(|gap| old(gap).len()).sum();
    let came: usize = joined.iter().map(|gap| new(gap).len()).sum();
    let is_text = |at: usize| sides.wire.blocks.kind(sides.new[at]) == BlockKind::Text;
    joined.first().is_some_and(|gap| gap.old.start.max(start(sides.older)) <= opening_end(sides))
        && joined.last().is_some_and(|gap| gap.old.end < sides.old.len())
        && gone >= COMPACTED_BLOCKS_MIN
        && came > 0
        && came * COMPACTED_BLOCKS_RATIO <= gone
        && joined.iter().any(|gap| gap.new.clone().any(is_text))
}

/// The gaps that are one with `gap`: between them stayed only what the client says for the system, which a compaction
/// leaves where it is.
fn joined<'a>(sides: &Sides<'_>, gap: &'a Gap, alignment: &'a Alignment) -> &'a [Gap] {
    let gaps = &alignment.gaps;
    let Some(at) = gaps.iter().position(|known| known == gap) else { return std::slice::from_ref(gap) };
    let is_message = |at: usize| sides.older.places[at].level == Level::Messages && is_system(sides, at);
    let are_one = |pair: &[Gap]| {
        let appended = pair[1].old.is_empty() && pair[1].old.start == sides.old.len();
        !appended && (pair[0].old.end..pair[1].old.start).all(is_message)
    };
    let before = gaps[..=at].windows(2).rev().take_while(|pair| are_one(pair)).count();
    let behind = gaps[at..].windows(2).take_while(|pair| are_one(pair)).count();
    &gaps[at - before..=at + behind]
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
