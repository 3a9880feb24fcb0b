//! Which cause a difference has, and the name of the changed thing.

use super::align::{Alignment, Gap};
use super::cause::Cause;
use super::pairing::{Pair, Pairs, tool_name};
use super::sides::Sides;
use super::sign::{BLANK, CLEARED, REASONING, TEXT, rest};
use super::{compaction, history};
use crate::outside::quoted;
use crate::wire::{BlockId, BlockKind, Blocks, Level, Place, Wire, json};

/// What a report calls a block that a client sends as text when it loads a history again.
pub(super) fn flattened_title(blocks: &Blocks, old: BlockId, new: BlockId) -> Option<&'static str> {
    match (blocks.kind(old), blocks.kind(new)) {
        (BlockKind::ToolUse | BlockKind::ToolResult, BlockKind::Text) => Some(FLATTENED),
        (BlockKind::Thinking, BlockKind::Text) => Some("thinking sent as text"),
        _ => None,
    }
}

/// See [`flattened_title`].
pub(super) const FLATTENED: &str = "call or result sent as text";

/// A result of at most this size that replaces one at least four times as long was cleared, not rewritten.
const CLEARED_BYTES_MAX: u64 = 256;

/// Words of the placeholder for a cleared result.
const CLEARED_WORDS: [&str; 10] =
    ["clear", "remov", "omit", "prun", "elid", "trim", "truncat", "delet", "expir", "no longer"];

/// Where a pair was found.
pub(super) struct Stretch<'a> {
    gap: &'a Gap,
    /// All stretches.
    alignment: &'a Alignment,
    pairs: &'a Pairs,
    /// What happened to the history as a whole.
    whole: Option<Cause>,
}

impl<'a> Stretch<'a> {
    /// The stretch `gap` of an alignment, with its pairs.
    pub fn of(sides: &Sides<'_>, gap: &'a Gap, alignment: &'a Alignment, pairs: &'a Pairs) -> Self {
        let whole = if compaction::is_compaction(sides, gap, alignment, pairs) {
            Some(Cause::Compacted)
        } else {
            history::is_rewind(sides, gap, alignment, pairs).then_some(Cause::Rewound)
        };
        Self { gap, alignment, pairs, whole }
    }

    /// A block of the newer prompt's message `item` was in the older one, edited or not.
    fn keeps_newer(&self, sides: &Sides<'_>, item: u32) -> bool {
        let of = |at: usize| sides.newer.places[at].is_of_message(item);
        let partner = &self.alignment.partner;
        let mut edited = self.pairs.pairs.iter().filter(|pair| pair.old.is_some());
        (0..partner.len()).any(|at| of(at) && partner[at].is_some()) || edited.any(|pair| pair.new.is_some_and(of))
    }

    /// A block of the older prompt's message `item` is in the newer one, edited or not.
    fn keeps_older(&self, sides: &Sides<'_>, item: u32) -> bool {
        let of = |at: usize| sides.older.places[at].is_of_message(item);
        let mut edited = self.pairs.pairs.iter().filter(|pair| pair.new.is_some());
        self.alignment.partner.iter().flatten().any(|at| of(*at)) || edited.any(|pair| pair.old.is_some_and(of))
    }

    /// The keys of a message came or went, and the message stayed.
    fn are_keys_of_a_kept_message(&self, sides: &Sides<'_>, pair: &Pair) -> bool {
        let place = sides.place_sent(pair);
        place.keys
            && match (pair.old, pair.new) {
                (Some(_), None) => self.keeps_older(sides, place.item),
                (None, Some(_)) => self.keeps_newer(sides, place.item),
                _ => false,
            }
    }
}

/// The cause of one pair of a gap.
pub(super) fn cause(sides: &Sides<'_>, pair: &Pair, stretch: &Stretch<'_>) -> Cause {
    let blocks = &sides.wire.blocks;
    let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
    let Some(shown) = new.or(old) else { return Cause::MessageEdited };
    if sides.is_level_head(pair) {
        return Cause::LevelParameter;
    }
    match blocks.level(shown) {
        Level::Tools => tools(sides, pair),
        Level::System => Cause::SystemChanged,
        Level::Messages => messages(sides, pair, stretch),
    }
}

/// The cause of a block that was added after the end of the older prompt.
pub(super) fn cause_of_appended(sides: &Sides<'_>, pair: &Pair) -> Cause {
    match sides.place(pair).level {
        _ if sides.is_level_head(pair) => Cause::LevelParameter,
        Level::Tools => Cause::ToolsAdded,
        Level::System => Cause::SystemChanged,
        Level::Messages => Cause::MessageInserted,
    }
}

fn tools(sides: &Sides<'_>, pair: &Pair) -> Cause {
    let moved = |block: BlockId, changed: Option<usize>| sides.has_moved(block) || changed.is_some();
    match (pair.old, pair.new) {
        (Some(_), Some(_)) => Cause::ToolChanged,
        (Some(old), None) if moved(sides.old[old], sides.tool_from(old)) => Cause::ToolsReordered,
        (None, Some(new)) if moved(sides.new[new], sides.tool_to(new)) => Cause::ToolsReordered,
        (None, _) => Cause::ToolsAdded,
        (_, None) => Cause::ToolsRemoved,
    }
}

fn messages(sides: &Sides<'_>, pair: &Pair, stretch: &Stretch<'_>) -> Cause {
    let Stretch { gap, alignment, whole, .. } = stretch;
    if let Some(cause) = whole {
        return *cause;
    }
    match (pair.old, pair.new) {
        _ if stretch.are_keys_of_a_kept_message(sides, pair) => Cause::MessageEdited,
        (Some(old), Some(new)) if sides.exchanged_contents(old, new) => Cause::ResultsReordered,
        (Some(old), Some(new)) => changed(sides, sides.old[old], sides.new[new]),
        (Some(old), None) if sides.has_moved(sides.old[old]) => moved(sides, sides.old[old]),
        (None, Some(new)) if sides.has_moved(sides.new[new]) => moved(sides, sides.new[new]),
        (Some(_), None) if history::is_truncation(sides, gap, alignment) => Cause::HistoryTruncated,
        (Some(old), None) => removed(sides, old, gap),
        _ => Cause::MessageInserted,
    }
}

/// A result that moved within its message, or anything else that moved.
fn moved(sides: &Sides<'_>, block: BlockId) -> Cause {
    let is_result = sides.wire.blocks.kind(block) == BlockKind::ToolResult;
    if is_result && sides.results_reordered(block) { Cause::ResultsReordered } else { Cause::MessageMoved }
}

fn changed(sides: &Sides<'_>, old: BlockId, new: BlockId) -> Cause {
    let blocks = &sides.wire.blocks;
    if !sides.are_readable(old, new) {
        return changed_outline(blocks, old, new);
    }
    let are_texts = || [old, new].iter().all(|block| TEXT.is_on(blocks, *block));
    let (was, is) = (blocks.bytes(old), blocks.bytes(new));
    if same_but_order(was, is) {
        return Cause::KeyOrder;
    }
    if lost_its_signature(was, is) {
        return Cause::ThinkingStripped;
    }
    match blocks.kind(old) {
        BlockKind::Media if is_document(was) && (same_source(was, is) || are_texts()) => Cause::MessageEdited,
        BlockKind::Media => Cause::ImageChanged,
        BlockKind::ToolUse if same_arguments_but_order(was, is) => Cause::KeyOrder,
        BlockKind::ToolResult if blocks.kind(new) == BlockKind::ToolResult && differs_in_images(was, is) => {
            Cause::ImageChanged
        }
        BlockKind::ToolResult if contents(was) != contents(is) && is_cleared(blocks, old, new) => Cause::ResultsCleared,
        _ => Cause::MessageEdited,
    }
}

/// Members with the signature of the thinking before a text or a call (Gemini, also in its spelling of chat completions).
const SIGNATURES: [&str; 3] = ["thoughtSignature", "thought_signature", "extra_content"];

/// Only the signature of its thinking is gone.
fn lost_its_signature(was: &[u8], is: &[u8]) -> bool {
    let is_gone = |field: &String| {
        SIGNATURES.contains(&field.as_str()) && json::member(is, format!("\"{field}\"").as_bytes()).is_none()
    };
    let fields = differing_fields(was, is);
    !fields.is_empty() && fields.iter().all(is_gone)
}

/// The same, judged by kinds, lengths and signs only.
fn changed_outline(blocks: &Blocks, old: BlockId, new: BlockId) -> Cause {
    let same_length = || blocks.len_bytes(old) == blocks.len_bytes(new);
    // A block of equal content in another role changed in its role.
    let same_rest = || {
        blocks.parts(old) != blocks.parts(new)
            && rest(blocks, old).is_some_and(|known| Some(known) == rest(blocks, new))
    };
    match blocks.kind(old) {
        BlockKind::Media if [old, new].iter().all(|block| TEXT.is_on(blocks, *block)) => Cause::MessageEdited,
        BlockKind::Media => Cause::ImageChanged,
        BlockKind::ToolUse if same_length() && same_rest() => Cause::KeyOrder,
        BlockKind::ToolResult if same_rest() => Cause::ImageChanged,
        BlockKind::ToolResult if is_cleared(blocks, old, new) => Cause::ResultsCleared,
        _ => Cause::MessageEdited,
    }
}

/// A result became empty, or only says that it is empty.
fn is_cleared(blocks: &Blocks, old: BlockId, new: BlockId) -> bool {
    let is_shorter = || is_far_shorter(blocks.len_bytes(old), blocks.len_bytes(new));
    blocks.kind(new) == BlockKind::ToolResult
        && !BLANK.is_on(blocks, old)
        && (CLEARED.is_on(blocks, new) || is_shorter())
}

const fn is_far_shorter(was_bytes: u64, is_bytes: u64) -> bool {
    is_bytes <= CLEARED_BYTES_MAX && is_bytes.saturating_mul(4) <= was_bytes
}

fn is_document(block: &[u8]) -> bool {
    json::member(block, b"\"type\"") == Some(b"\"document\"")
}

/// A plain text document, or one made of text blocks.
pub(super) fn is_text_document(block: &[u8]) -> bool {
    let kind = json::member(block, b"\"source\"").and_then(|source| json::member(source, b"\"type\""));
    matches!(kind, Some(b"\"text\"" | b"\"content\""))
}

/// The content shown is the same; a title, a context or the citations differ.
fn same_source(was: &[u8], is: &[u8]) -> bool {
    let source = |block| json::member(block, b"\"source\"");
    source(was).is_some() && source(was) == source(is)
}

/// The content of a result, element by element.
pub(super) fn contents(result: &[u8]) -> Vec<&[u8]> {
    json::member(result, b"\"content\"").map(|list| json::elements(list).flatten().collect()).unwrap_or_default()
}

fn text_of(element: &[u8]) -> &[u8] {
    json::member(element, b"\"text\"").unwrap_or_default()
}

fn is_image(element: &[u8]) -> bool {
    json::member(element, b"\"type\"") == Some(b"\"image\"")
}

/// A result without what its images show; `None` if it has none.
pub(super) fn without_images(result: &[u8]) -> Option<Vec<u8>> {
    let elements = contents(result);
    let members = json::members(result).flatten().filter(|(key, _)| *key != b"\"content\"");
    let others = members.flat_map(|(key, value)| [key, value]);
    let shown = elements.iter().map(|element| if is_image(element) { &b"image"[..] } else { element });
    elements.iter().any(|element| is_image(element)).then(|| others.chain(shown).collect::<Vec<_>>().join(&b'\n'))
}

/// The elements that differ are images, or were images.
fn differs_in_images(was: &[u8], is: &[u8]) -> bool {
    let (was, is) = (contents(was), contents(is));
    let mut differing = was.iter().zip(&is).filter(|(was, is)| was != is).peekable();
    was.len() == is.len() && differing.peek().is_some() && differing.all(|(was, _)| is_image(was))
}

fn said(elements: &[&[u8]]) -> Vec<u8> {
    elements.iter().flat_map(|element| text_of(element)).copied().collect()
}

/// A result without any content.
pub(super) fn says_nothing(result: &[u8]) -> bool {
    let elements = contents(result);
    said(&elements).is_empty() && elements.iter().all(|element| json::member(element, b"\"text\"").is_some())
}

/// A result that is empty, or only says that it was removed.
pub(super) fn is_cleared_content(result: &[u8]) -> bool {
    let said = String::from_utf8_lossy(&said(&contents(result))).to_lowercase();
    let text = said.trim_matches('"');
    let is_placeholder = || {
        said.len() as u64 <= CLEARED_BYTES_MAX
            && text.starts_with(['[', '(', '<'])
            && CLEARED_WORDS.iter().any(|word| text.contains(word))
    };
    text.trim_matches(['[', ']', '(', ')', '<', '>', '.', '…', ' ']).is_empty() || is_placeholder()
}

fn removed(sides: &Sides<'_>, old: usize, gap: &Gap) -> Cause {
    let item = |at: &usize| sides.older.places[*at].item == sides.older.places[old].item;
    let same_message: Vec<usize> = (history::start(sides.older)..sides.old.len()).filter(item).collect();
    let alone = same_message.len() > 1 && same_message.iter().all(|at| gap.old.contains(at));
    // Thinking that was removed together with its message was not stripped from it.
    match is_thinking(sides, sides.old[old]) {
        true if !alone => Cause::ThinkingStripped,
        _ => Cause::MessageRemoved,
    }
}

/// Thinking in any spelling.
fn is_thinking(sides: &Sides<'_>, block: BlockId) -> bool {
    match sides.wire.blocks.kind(block) {
        BlockKind::Thinking => true,
        BlockKind::Opaque => REASONING.is_on(&sides.wire.blocks, block),
        _ => false,
    }
}

/// Whether two JSON texts hold the same members in different order, at any depth.
pub(super) fn same_but_order(old: &[u8], new: &[u8]) -> bool {
    if old.len() != new.len() || old == new {
        return false;
    }
    // Compare length and byte sum first: trees are built only for likely candidates.
    let sum = |text: &[u8]| text.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    if sum(old) != sum(new) {
        return false;
    }
    let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    value(old).is_some_and(|old| value(new) == Some(old))
}

/// The same for two calls with an input that is `arguments`, a JSON text of its own, as `OpenAI` sends it.
fn same_arguments_but_order(old: &[u8], new: &[u8]) -> bool {
    let call = |text: &[u8]| {
        let mut call: serde_json::Value = serde_json::from_slice(text).ok()?;
        let arguments = call.pointer_mut("/input/arguments")?;
        *arguments = serde_json::from_str(arguments.as_str()?).ok()?;
        Some(call)
    };
    // A different length means different blanks or values.
    old.len() == new.len() && call(old).is_some_and(|old| call(new) == Some(old))
}

/// The name of a block in a report.
pub(super) fn title(wire: &Wire, block: BlockId, place: Place) -> String {
    let named = |what: &str| match tool_name(&wire.blocks, block) {
        Some(name) => format!("{what} {}", quoted(&name)),
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
        BlockKind::Opaque if REASONING.is_on(&wire.blocks, block) => "thinking".to_owned(),
        BlockKind::Opaque => "block of unknown type".to_owned(),
        BlockKind::Text if place.level == Level::System => "system text".to_owned(),
        BlockKind::Text => format!("{} text", wire.blocks.role(block).name()),
    }
}

/// The members in which two objects differ, each once: the newer one's in order, then the removed ones.
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
