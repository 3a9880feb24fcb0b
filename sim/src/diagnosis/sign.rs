//! Signs: what the rules ask of a block's content, in words that a lock keeps instead.

use super::classify::{is_cleared_content, is_text_document, says_nothing, without_images};
use super::compaction::{opens_summary, replaces_history};
use super::seams::text;
use super::sides::{cites, shows};
use crate::wire::{BlockId, BlockKind, Blocks, Role, json, part_digest};

/// A fact about the content of a block.
pub(super) struct BlockSign {
    word: &'static str,
    /// Kinds of blocks for which it is recorded.
    kinds: &'static [BlockKind],
    holds: fn(&[u8]) -> bool,
}

/// A client or a provider replaced a history with it.
pub(super) const SUMMARY: BlockSign =
    BlockSign { word: "summary", kinds: &[BlockKind::Text, BlockKind::Opaque], holds: replaces_history };

/// It begins like a summary, of any client.
pub(super) const RECAP: BlockSign = BlockSign { word: "recap", kinds: &[BlockKind::Text], holds: opens_summary };

/// It is thinking under another name: items of the Responses API are called `reasoning`.
pub(super) const REASONING: BlockSign =
    BlockSign { word: "reasoning", kinds: &[BlockKind::Opaque], holds: |block| member(block, "\"reasoning\"") };

/// The result says nothing.
pub(super) const BLANK: BlockSign = BlockSign { word: "blank", kinds: &[BlockKind::ToolResult], holds: says_nothing };

/// The result is empty, or only says that it was removed.
pub(super) const CLEARED: BlockSign =
    BlockSign { word: "cleared", kinds: &[BlockKind::ToolResult], holds: is_cleared_content };

/// The document is plain text, or made of text blocks.
pub(super) const TEXT: BlockSign = BlockSign { word: "text", kinds: &[BlockKind::Media], holds: is_text_document };

/// The document asks for citations.
pub(super) const CITES: BlockSign =
    BlockSign { word: "cites", kinds: &[BlockKind::Media, BlockKind::Opaque, BlockKind::ToolResult], holds: cites };

/// It is an image or holds one.
pub(super) const IMAGE: BlockSign =
    BlockSign { word: "image", kinds: &[BlockKind::Media, BlockKind::ToolResult], holds: shows };

static SIGNS: [BlockSign; 8] = [SUMMARY, RECAP, REASONING, BLANK, CLEARED, TEXT, CITES, IMAGE];

/// Hexadecimal digits of the digest after a sign.
const DIGITS: usize = 8;

fn member(block: &[u8], kind: &str) -> bool {
    json::member(block, b"\"type\"") == Some(kind.as_bytes())
}

impl BlockSign {
    /// Whether a block has the sign: by its content, or by what was recorded of it.
    pub(super) fn is_on(&self, blocks: &Blocks, block: BlockId) -> bool {
        if !blocks.is_outline(block) {
            return (self.holds)(blocks.bytes(block));
        }
        self.kinds.contains(&blocks.kind(block))
            && blocks.outline_name(block).is_some_and(|signs| words(signs).any(|word| word == self.word))
    }
}

fn words(signs: &str) -> impl Iterator<Item = &str> {
    signs.split(' ').map(|word| split_digest(word).0)
}

/// The signs of a block for a lock: words for blocks of messages, and `#` with a digest of what does not depend on the
/// order of a call's keys, on what a result's images show, or on where a text is split. Locks have had them since
/// November 2026: a comparison with an older one may name another cause, of the same tokens.
pub fn signs(blocks: &Blocks, block: BlockId) -> String {
    let kind = blocks.kind(block);
    let recorded = || SIGNS.iter().filter(|sign| sign.kinds.contains(&kind) && sign.is_on(blocks, block));
    let words = match blocks.role(block) {
        Role::None => String::new(),
        _ => recorded().map(|sign| sign.word).collect::<Vec<_>>().join(" "),
    };
    match rest(blocks, block) {
        Some(rest) => format!("{words}#{rest:08x}"),
        None => words,
    }
}

/// The digest of a call whatever the order of its keys, of a result whatever its images show, or of a text such that
/// [`joined`] gives that of two texts in one. `None` for other blocks, results without images, and outlines of locks
/// without signs.
pub(super) fn rest(blocks: &Blocks, block: BlockId) -> Option<u32> {
    if blocks.is_outline(block) {
        return split_digest(blocks.outline_name(block)?).1;
    }
    match blocks.kind(block) {
        BlockKind::Text => text(blocks.bytes(block)).map(text_digest),
        BlockKind::ToolUse => without_order(blocks.bytes(block)),
        BlockKind::ToolResult => without_images(blocks.bytes(block)).map(|rest| part_digest(&rest)),
        _ => None,
    }
}

/// The recorded name of a block without the digest after it, and that digest.
pub(super) fn split_digest(name: &str) -> (&str, Option<u32>) {
    let is_digest = |text: &str| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('#').filter(|(_, digest)| is_digest(digest)) {
        Some((name, digest)) => (name, u32::from_str_radix(digest, 16).ok()),
        None => (name, None),
    }
}

/// A prime and a base below it: digests of texts are polynomials, so that they can be joined.
const PRIME: u64 = 4_294_967_291;
const BASE: u64 = 2_654_435_761;

/// The digest of a text as spelled in canonical bytes.
pub(super) fn text_digest(text: &[u8]) -> u32 {
    // Below the prime, so it fits.
    text.iter().fold(0, |sum, byte| (sum * BASE + u64::from(*byte) + 1) % PRIME) as u32
}

/// The digest of two texts one after the other; the second has `len` bytes.
pub(super) fn joined(first: u32, second: u32, len: u64) -> u32 {
    let (mut power, mut square, mut left) = (1, BASE, len);
    while left > 0 {
        if left & 1 == 1 {
            power = power * square % PRIME;
        }
        square = square * square % PRIME;
        left >>= 1;
    }
    ((u64::from(first) * power + u64::from(second)) % PRIME) as u32
}

fn without_order(call: &[u8]) -> Option<u32> {
    let mut call: serde_json::Value = serde_json::from_slice(call).ok()?;
    // OpenAI sends the input as a JSON text of its own.
    if let Some(arguments) = call.pointer_mut("/input/arguments") {
        let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        *arguments = parsed.unwrap_or_else(|| arguments.take());
    }
    call.sort_all_objects();
    Some(part_digest(call.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{joined, split_digest, text_digest};

    #[test]
    fn digests_of_texts_can_be_joined() {
        let whole = b"The quick brown fox jumps over the lazy dog.".repeat(20);
        for at in [0, 1, 63, 500, whole.len()] {
            let (first, second) = whole.split_at(at);
            let both = joined(text_digest(first), text_digest(second), second.len() as u64);
            assert_eq!(both, text_digest(&whole), "{at}");
            let other = joined(text_digest(second), text_digest(first), first.len() as u64);
            assert!(other != both || first.is_empty() || second.is_empty(), "{at}");
        }
    }

    #[test]
    fn a_name_may_have_a_digest_after_it() {
        assert_eq!(split_digest("Edit#0a1b2c3d"), ("Edit", Some(0x0a1b_2c3d)));
        for name in ["", "Edit", "C#", "C#sharp", "Edit#0a1b2c3"] {
            assert_eq!(split_digest(name), (name, None));
        }
    }
}
