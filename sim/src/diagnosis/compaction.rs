//! Recognises a compacted history: a short text replaces all of it, or its beginning.

use std::collections::BTreeSet;

use super::align::{Alignment, Gap};
use super::history::{first_message_end, is_system, opening_end, start};
use super::pairing::{self, COMPARISONS_MAX, EDITED_TENTHS_MIN, Pairs};
use super::sides::Sides;
use super::sign::{RECAP, SUMMARY};
use crate::wire::{BlockId, BlockKind, Blocks, Level, Role, json};

/// A history was replaced, not edited, if less than this share (in percent) stays.
const COMPACTED_KEPT_PERCENT_MAX: usize = 20;

/// Fewest blocks of a history for its replacement to be called a compaction.
const COMPACTED_BLOCKS_MIN: usize = 8;

/// A compaction that keeps the end of the history removes at least this many times as many blocks as it adds.
const COMPACTED_BLOCKS_RATIO: usize = 3;

/// Fewest messages that a short text must replace: an edit of one text plus a dropped exchange are three.
const SUMMED_UP_MESSAGES_MIN: usize = 4;

/// The same if the new text says that it is a summary.
const TOLD_MESSAGES_MIN: usize = 2;

/// How the user text begins with which a client replaces a history, in canonical bytes. From recordings: Claude Code
/// (all 34 compactions of transcripts, 2026-01 to 2026-02). From published sources, read 2026-11: Cline
/// (`continuationPrompt`, Claude Code's words after a line break); pi (`COMPACTION_SUMMARY_PREFIX` and, on return from
/// a branch, `BRANCH_SUMMARY_PREFIX`); `SummarizationMiddleware` of langchain and of deepagents; Codex
/// (`summary_prefix.md`, and `history_bridge.md` of 2025); Copilot CLI, resumed, as recorded by others; Gemini CLI and
/// its forks (`ChatCompressionService`); aider (`summary_prefix`); the tool runner of Anthropic's SDKs before their
/// first version (`compaction_control`: a model's summary in the tags that the prompt asks for). opencode and OpenHands
/// add no words of their own to the model's summary.
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

/// Types of blocks with which a provider replaces a history, in canonical bytes: server-side compaction of Anthropic
/// and OpenAI (both sources read 2026-11), and Codex's own type.
const SUMMARY_TYPES: [&[u8]; 3] = [br#""compaction""#, br#""compaction_summary""#, br#""context_compaction""#];

/// Whether a client or a provider put this block in place of a history.
pub fn is_summary(blocks: &Blocks, block: BlockId) -> bool {
    match blocks.kind(block) {
        BlockKind::Text => blocks.role(block) == Role::User && SUMMARY.is_on(blocks, block),
        BlockKind::Opaque => SUMMARY.is_on(blocks, block),
        _ => false,
    }
}

/// Whether a text, or a block of a type of its own, replaces a history.
pub(super) fn replaces_history(block: &[u8]) -> bool {
    let is_type = || json::member(block, br#""type""#).is_some_and(|name| SUMMARY_TYPES.contains(&name));
    text(block).map_or_else(is_type, begins_as_summary)
}

fn begins_as_summary(mut text: &[u8]) -> bool {
    while let Some(behind) = text.strip_prefix(br"\n").or_else(|| text.strip_prefix(b" ")) {
        text = behind;
    }
    SUMMARY_OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// How other summaries begin, in small letters and without punctuation before or within the words. These alone prove
/// nothing: a user may ask for a summary.
const OPENINGS: [&str; 44] = [
    "summary of the conversation",
    "summary of our conversation",
    "summary of this conversation",
    "summary of the session",
    "summary of the chat",
    "summary of the history",
    "summary of the previous",
    "summary of previous",
    "summary of the earlier",
    "summary of earlier",
    "summary of the work",
    "summary of what",
    "summary of our",
    "summary of progress",
    "summary so far",
    "conversation summary",
    "context summary",
    "session summary",
    "history summary",
    "progress summary",
    "previous conversation",
    "earlier conversation",
    "prior conversation",
    "conversation so far",
    "the conversation so far",
    "the previous conversation",
    "the earlier conversation",
    "conversation history",
    "chat history",
    "compacted",
    "conversation compacted",
    "the conversation was",
    "the conversation has been",
    "this conversation was",
    "this conversation has been",
    "earlier in this conversation",
    "earlier messages were",
    "previous messages were",
    "what did we do so far",
    "what we did so far",
    "recap of",
    "here is a summary of",
    "this is a summary of",
    "below is a summary of",
];

/// Length of the text, in bytes, that is searched for such words.
const OPENING_BYTES: usize = 96;

/// The text of a text block, as spelled in canonical bytes.
fn text(block: &[u8]) -> Option<&[u8]> {
    let text = block.strip_prefix(br#"{"text":""#)?;
    Some(text.strip_suffix(br#"","type":"text"}"#).unwrap_or(text))
}

/// Whether a text block begins like a summary, of any client.
pub(super) fn opens_summary(block: &[u8]) -> bool {
    text(block).is_some_and(begins_like_summary)
}

fn begins_like_summary(text: &[u8]) -> bool {
    let opening = String::from_utf8_lossy(&text[..text.len().min(OPENING_BYTES)]).replace("\\n", " ").to_lowercase();
    let opening = opening.replace(['_', '-'], " ");
    let opening = opening.trim_start_matches(|c: char| !c.is_alphanumeric());
    OPENINGS.iter().any(|words| opening.starts_with(words))
}

/// Whether a block is a user's text that begins like a summary, as a user's question may too.
pub fn could_be_summary(blocks: &Blocks, block: BlockId) -> bool {
    blocks.kind(block) == BlockKind::Text && blocks.role(block) == Role::User && RECAP.is_on(blocks, block)
}

/// A client's replacement for a history was added where part of the history was removed. A summary that was only edited
/// does not count: it replaces the same history as before.
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

/// A summary replaces the history: almost nothing of a long one stays, something short replaces its beginning, or the
/// client says so.
pub(super) fn is_compaction(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    is_replaced(sides, gap, alignment, pairs)
        || Beginning::of(sides, gap, alignment).is_some_and(|beginning| beginning.is_summed_up() || beginning.says_so())
        || is_told(sides, gap, alignment)
}

/// Almost nothing of a long history stays, and its replacement is shorter. Text that the client sends as system and
/// keeps does not count as history.
fn is_replaced(sides: &Sides<'_>, gap: &Gap, alignment: &Alignment, pairs: &Pairs) -> bool {
    let from = start(sides.newer);
    let is_kept = |at: &usize| alignment.partner[*at].is_some();
    let (system, kept): (Vec<usize>, Vec<usize>) =
        (from..sides.new.len()).filter(is_kept).partition(|at| sides.wire.blocks.role(sides.new[*at]) == Role::System);
    let old_blocks = (sides.old.len() - start(sides.older)).saturating_sub(system.len());
    let new_blocks = |to: usize| to.saturating_sub(from) - system.iter().filter(|at| **at < to).count();
    let begins = |gap: &Gap| gap.old.start < first_message_end(sides) && gap.new.end > from;
    // A turn after a summary may be longer than the history that the summary replaces.
    let is_short =
        || new_blocks(newest_turn(sides)) * COMPACTED_BLOCKS_RATIO <= old_blocks && pairs.alike * 2 < gap.old.len();
    old_blocks >= COMPACTED_BLOCKS_MIN
        && kept.len() * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
        && alignment.gaps.iter().any(begins)
        && (new_blocks(sides.new.len()) < old_blocks || is_short())
}

/// Where the newest turn of the newer history begins: at the model's last message. A request adds one turn to the
/// previous one.
fn newest_turn(sides: &Sides<'_>) -> usize {
    let is_answer = |at: &usize| sides.wire.blocks.role(sides.new[*at]) == Role::Assistant;
    let from = start(sides.newer);
    let last = (from..sides.new.len()).rev().find(is_answer);
    last.map_or(sides.new.len(), |last| (from..=last).rev().take_while(is_answer).last().unwrap_or(last))
}

/// How a compaction that keeps the end of a history replaces its beginning.
struct Beginning<'a> {
    sides: &'a Sides<'a>,
    /// The removed blocks.
    gone: Vec<usize>,
    /// The blocks that replace them.
    came: Vec<usize>,
    /// The blocks after them stay.
    is_end_kept: bool,
}

impl<'a> Beginning<'a> {
    /// `None` if the stretch does not begin with the history.
    fn of(sides: &'a Sides<'a>, gap: &Gap, alignment: &Alignment) -> Option<Self> {
        let joined = joined(sides, gap, alignment);
        let (first, last) = (joined.first()?, joined.last()?);
        let [from_old, from_new] = [sides.older, sides.newer].map(start);
        let gone = joined.iter().flat_map(|gap| gap.old.start.max(from_old)..gap.old.end).collect();
        let came = joined.iter().flat_map(|gap| gap.new.start.max(from_new)..gap.new.end).collect();
        let begins = first.old.start.max(from_old) <= opening_end(sides);
        begins.then_some(Self { sides, gone, came, is_end_kept: last.old.end < sides.old.len() })
    }

    /// Messages that lost at least one block. Text that the client sends as system is no history.
    fn messages_gone(&self) -> usize {
        let said = self.gone.iter().filter(|at| !is_system(self.sides, **at));
        said.map(|at| self.sides.older.places[*at].item).collect::<BTreeSet<_>>().len()
    }

    /// Added texts that are no edit of a removed one.
    fn texts(&self) -> impl Iterator<Item = usize> {
        let is_text = |at: &usize| self.sides.wire.blocks.kind(self.sides.new[*at]) == BlockKind::Text;
        let looked_at = self.gone.len().min(COMPARISONS_MAX / self.came.len().max(1));
        let is_edit = move |new: usize| {
            self.gone[..looked_at].iter().any(|old| pairing::same_tenths(self.sides, *old, new) >= EDITED_TENTHS_MIN)
        };
        self.came.iter().copied().filter(is_text).filter(move |new| !is_edit(*new))
    }

    /// Something short replaces more than an exchange and one message, and the end of the history stays.
    fn is_summed_up(&self) -> bool {
        self.is_end_kept
            && self.messages_gone() >= SUMMED_UP_MESSAGES_MIN
            && self.came.len() * COMPACTED_BLOCKS_RATIO <= self.gone.len()
            && self.texts().next().is_some()
    }

    /// The added text says that it is a summary: a text of its own, or added to one that was there.
    fn says_so(&self) -> bool {
        let old = |at: &usize| text(self.sides.bytes(Some(self.sides.old[*at])));
        let new = |at: usize| text(self.sides.bytes(Some(self.sides.new[at])));
        let opens = |at: usize| RECAP.is_on(&self.sides.wire.blocks, self.sides.new[at]);
        let goes_on = |said: &[u8]| {
            let known = self.gone.iter().filter_map(old).filter(|known| !known.is_empty());
            known
                .filter_map(|known| said.strip_prefix(known))
                .any(|rest| begins_like_summary(rest) || begins_as_summary(rest))
        };
        self.messages_gone() >= TOLD_MESSAGES_MIN
            && (self.texts().any(opens) || self.came.iter().any(|at| new(*at).is_some_and(goes_on)))
    }
}

/// The gaps that belong together with `gap`: only text that the client sends as system stayed between them, because a
/// compaction leaves it in place.
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
