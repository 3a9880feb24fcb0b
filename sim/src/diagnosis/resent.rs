//! How much of each block of a newer prompt was sent before, in the older one (`design.md` 3, *sent before*).
//!
//! Unchanged and moved blocks were sent before as a whole. Within a changed block, the content bytes that are equal at
//! both ends, and equal stretches between several changes, were sent before; only what differs is new. A block that was
//! written in another order was sent before as a whole. Tokens are shared by bytes, so the part of a changed block is an
//! estimate.

use std::collections::BTreeMap;

use super::align::{Alignment, is_message_start};
use super::cause::{Cause, Volatile};
use super::difference::Difference;
use super::ends::{CommonEnds, boundary_before, first_difference};
use super::pairing::Pair;
use super::parts::PartEnds;
use super::stretches::equal_bytes;
use crate::wire::{BlockId, BlockKind, Blocks};

/// The part of a block that was in the older prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent {
    /// Index of the older block.
    pub old: usize,
    /// Equal bytes of the content if it is known, else an upper bound.
    equal_bytes: u64,
    /// Content bytes of the newer block; zero for a whole block.
    content_bytes: u64,
    /// The newer block is the older one with more at its end.
    has_grown: bool,
    /// Only digests are known: fewer bytes may be equal.
    pub is_upper_bound: bool,
}

impl Resent {
    /// The whole block was at `old` in the older prompt.
    pub const fn whole(old: usize) -> Self {
        Self { old, equal_bytes: 0, content_bytes: 0, has_grown: false, is_upper_bound: false }
    }

    /// Whether the whole block was sent before.
    pub const fn is_whole(&self) -> bool {
        self.content_bytes == 0
    }

    /// Whether more of the block was sent before than two texts have in common by chance. A cache that `reads_tokens` still reads a
    /// text that only grew.
    pub const fn is_content(&self, reads_tokens: bool) -> bool {
        const BYTES_MIN: u64 = 32;
        self.is_whole() || self.equal_bytes >= BYTES_MIN && !(reads_tokens && self.has_grown)
    }

    /// How many of the newer block's `tokens` were sent before, rounded down.
    pub fn tokens(&self, tokens: u64) -> u64 {
        if self.is_whole() {
            return tokens;
        }
        let share = u128::from(tokens) * u128::from(self.equal_bytes) / u128::from(self.content_bytes);
        u64::try_from(share).unwrap_or(tokens).min(tokens)
    }

    /// How much the changed block `newer` keeps of `older`, which was at `old`; `None` if nothing.
    pub fn of_changed(blocks: &Blocks, old: usize, older: BlockId, newer: BlockId) -> Option<Self> {
        if [older, newer].iter().any(|block| blocks.kind(*block) == BlockKind::Parameters) {
            return None;
        }
        let is_upper_bound = blocks.is_outline(older) || blocks.is_outline(newer);
        let resent = if is_upper_bound {
            let equal_bytes = PartEnds::of(blocks, older, newer)?.at_most;
            Self { old, equal_bytes, content_bytes: blocks.len_bytes(newer), has_grown: false, is_upper_bound }
        } else {
            let (older, newer) = (content(blocks.bytes(older)), content(blocks.bytes(newer)));
            let has_grown = CommonEnds::of_characters(older, newer).start == older.len();
            let equal_bytes = equal_bytes(older, newer) as u64;
            Self { old, equal_bytes, content_bytes: newer.len() as u64, has_grown, is_upper_bound }
        };
        (resent.equal_bytes > 0).then_some(resent)
    }
}

/// The bytes with which two blocks at one place of two prompts begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockBeginning {
    /// Canonical bytes that both begin with.
    pub bytes: u64,
    /// All canonical bytes of the newer block.
    len_bytes: u64,
    /// The newer block is the older one with more at its end, or before a closing tag.
    pub is_grown: bool,
}

impl BlockBeginning {
    /// Of two texts, or of two results or tools; `None` if one is of another kind or only its digest is known.
    pub fn of(blocks: &Blocks, older: BlockId, newer: BlockId) -> Option<Self> {
        let is_text = |kind| !matches!(kind, BlockKind::Parameters | BlockKind::Media | BlockKind::Opaque);
        let what = |block| (blocks.kind(block), blocks.role(block));
        let is_read = [older, newer].iter().all(|block| !blocks.is_outline(*block));
        if what(older) != what(newer) || !is_read || !is_text(blocks.kind(newer)) {
            return None;
        }
        let [old, new] = [older, newer].map(|block| blocks.bytes(block));
        let is_grown = CommonEnds::of(content(old), content(new)).len() >= content(old).len();
        let bytes = boundary_before(new, first_difference(old, new)) as u64;
        Some(Self { bytes, len_bytes: new.len() as u64, is_grown })
    }

    /// How many of the newer block's `tokens` these are, rounded down.
    pub fn tokens(&self, tokens: u64) -> u64 {
        let share = u128::from(tokens) * u128::from(self.bytes) / u128::from(self.len_bytes.max(1));
        u64::try_from(share).unwrap_or(tokens)
    }
}

/// For each block of a newer prompt, the part of it that was in an older one.
#[derive(Clone, Debug)]
pub struct ResentBlocks {
    /// Number of blocks with which both prompts begin.
    begun: usize,
    /// The other blocks, unless all of them are new.
    others: Vec<Option<Resent>>,
    len: usize,
}

impl ResentBlocks {
    /// A newer prompt of `len` blocks that begins with all `begun` blocks of the older.
    pub(super) fn begun(begun: usize, len: usize) -> Self {
        Self { begun, others: Vec::new(), len }
    }

    /// The part of the newer prompt's block at `at` that was in the older one.
    pub fn get(&self, at: usize) -> Option<Resent> {
        match at.checked_sub(self.begun) {
            Some(beyond) => self.others.get(beyond).copied().flatten(),
            None => Some(Resent::whole(at)),
        }
    }

    /// The first block from `at` on that the older prompt had, at least in part.
    pub(super) fn alone_until(&self, at: usize) -> usize {
        let alone = |beyond: &usize| self.others[*beyond].is_some();
        match at.checked_sub(self.begun) {
            Some(beyond) => (beyond..self.others.len()).find(alone).map_or(self.len, |found| self.begun + found),
            None => at,
        }
    }

    /// The same for each block in turn.
    pub fn iter(&self) -> impl Iterator<Item = Option<Resent>> {
        (0..self.len).map(|at| self.get(at))
    }
}

/// For each block of the newer prompt, the part of it that was in the older one.
pub(super) fn resent(
    blocks: &Blocks,
    [old, new]: [&[BlockId]; 2],
    alignment: &Alignment,
    differences: &[Difference],
) -> ResentBlocks {
    let mut found: Vec<Option<Resent>> = alignment.partner.iter().map(|partner| partner.map(Resent::whole)).collect();
    for at in moved(blocks, [old, new], alignment) {
        found[at.new] = Some(Resent::whole(at.old));
    }
    for (change, Pair { old: was, new: is, .. }) in edits(differences) {
        if let (Some(was), Some(is)) = (was, is)
            && found[is].is_none()
        {
            let is_order = matches!(change.cause, Cause::KeyOrder | Cause::ResultsReordered);
            found[is] = match is_order || change.volatile == Some(Volatile::MapOrder) {
                true => Some(Resent::whole(was)),
                false => Resent::of_changed(blocks, was, old[was], new[is]),
            };
        }
    }
    ResentBlocks { begun: 0, len: found.len(), others: found }
}

/// Pairs in which the newer block is an edit of the older one. In a replaced history, and for tools that swapped
/// places, a pair shows only which block took which place. Images have no parts.
fn edits(differences: &[Difference]) -> impl Iterator<Item = (&Difference, Pair)> {
    let edited = |cause: Cause| {
        !matches!(
            cause,
            Cause::ToolsReordered | Cause::Compacted | Cause::Rewound | Cause::HistoryTruncated | Cause::ImageChanged
        )
    };
    let edits = differences.iter().filter(move |found| edited(found.cause));
    edits.flat_map(|found| found.pairs.iter().map(move |pair| (found, *pair)))
}

/// A block that is elsewhere in the newer prompt.
struct Moved {
    old: usize,
    new: usize,
}

/// Blocks without a partner that occur once in both prompts. The start of a message is no content that moves.
fn moved(blocks: &Blocks, [old, new]: [&[BlockId]; 2], alignment: &Alignment) -> Vec<Moved> {
    let gaps = &alignment.gaps;
    let mut gone: BTreeMap<BlockId, Vec<usize>> = BTreeMap::new();
    for at in gaps.iter().rev().flat_map(|gap| gap.old.clone().rev()) {
        gone.entry(old[at]).or_default().push(at);
    }
    let came = gaps.iter().flat_map(|gap| gap.new.clone()).filter(|at| !is_message_start(blocks, new[*at]));
    came.filter_map(|at| Some(Moved { old: gone.get_mut(&new[at])?.pop()?, new: at })).collect()
}

/// The content of a block without the scaffolding that all blocks of its kind share: the key of the first member, the
/// type at the end, and the quotes there.
fn content(block: &[u8]) -> &[u8] {
    let start = memchr::memchr(b':', block).map_or(0, |colon| colon + 1);
    let end = memchr::memmem::rfind(block, b",\"type\":\"").filter(|end| *end >= start).unwrap_or(block.len());
    let content = &block[start..end];
    let content = content.strip_prefix(b"\"").unwrap_or(content);
    content.strip_suffix(b"\"").unwrap_or(content)
}

#[cfg(test)]
mod tests {
    use super::content;

    #[test]
    fn scaffolding_is_no_content() {
        assert_eq!(content(br#"{"text":"It is ten.","type":"text"}"#), b"It is ten.");
        assert_eq!(
            content(br#"{"content":"ok","tool_use_id":"t1","type":"tool_result"}"#),
            br#"ok","tool_use_id":"t1"#
        );
        assert_eq!(content(br#"{"description":"Reads.","name":"Read"}"#), br#"Reads.","name":"Read"}"#);
        assert_eq!(content(b""), b"");
    }
}
