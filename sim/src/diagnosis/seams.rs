//! Recognises a text split into two blocks, or two texts merged into one: one change, not two.

use super::classify;
use super::pairing::Pair;
use super::sides::Sides;
use super::sign::{joined, rest, text_digest};
use crate::wire::{BlockId, BlockKind, Blocks};

/// Most pairs of a stretch that is searched for seams.
const PAIRS_MAX: usize = 512;

/// Removes from `pairs` the second half of a text that was split or the first half of one that was merged. Returns each
/// edit with the half that belongs to it.
pub(super) fn close(sides: &Sides<'_>, pairs: &mut Vec<Pair>) -> Vec<(Pair, Pair)> {
    if pairs.len() > PAIRS_MAX {
        return Vec::new();
    }
    let edits: Vec<Pair> = pairs.iter().filter(|pair| pair.old.is_some() && pair.new.is_some()).copied().collect();
    let mut halves = Vec::new();
    for edit in edits {
        let (Some(old), Some(new)) = (edit.old, edit.new) else { continue };
        let seam = beside(sides, &sides.new, new).find(|(other, _)| is_cut(sides, pairs, old, new, *other));
        if let Some((other, start)) = seam {
            let came = |at: usize| pairs.iter().copied().filter(move |pair| pair.new == Some(at) && pair.old.is_none());
            let starts: Vec<Pair> = start.into_iter().flat_map(came).collect();
            pairs.retain(|pair| *pair != edit && pair.new != Some(other) && !starts.contains(pair));
            let (first, second) = (new.min(other), new.max(other));
            let whole = Pair { new: Some(first), new_at: first, ..edit };
            pairs.push(whole);
            let half = Pair { old: None, new: Some(second), old_at: old + 1, new_at: second };
            halves.extend(starts.into_iter().chain([half]).map(|half| (whole, half)));
        }
        let absorbed = |other: usize| is_absorbed(sides, pairs, old, new, other);
        let joins = |other: usize| is_joined(sides, pairs, old, new, other) || absorbed(other);
        let seam = beside(sides, &sides.old, old).find(|(other, _)| joins(*other));
        let is_absorbed = seam.is_some_and(|(other, _)| absorbed(other));
        if let Some((other, start)) = seam {
            let went = |at: usize| pairs.iter().copied().filter(move |pair| pair.old == Some(at) && pair.new.is_none());
            let starts: Vec<Pair> = start.into_iter().flat_map(went).collect();
            pairs.retain(|pair| *pair != edit && pair.old != Some(other) && !starts.contains(pair));
            // A call that took up the text before it is the change to be shown.
            let (first, second) = if is_absorbed { (old, other) } else { (old.min(other), old.max(other)) };
            let whole = Pair { old: Some(first), old_at: first, ..edit };
            pairs.push(whole);
            let half = Pair { old: Some(second), new: None, old_at: second, new_at: new + 1 };
            halves.extend(starts.into_iter().chain([half]).map(|half| (whole, half)));
        }
    }
    pairs.sort_by_key(|pair| (pair.new_at, pair.new.is_some(), pair.old_at));
    halves
}

/// The blocks next to the one at `at`, behind it first, each with the start of a message between them, if there is one.
fn beside<'a>(
    sides: &'a Sides<'_>,
    side: &'a [BlockId],
    at: usize,
) -> impl Iterator<Item = (usize, Option<usize>)> + use<'a> {
    let blocks = &sides.wire.blocks;
    [1, -1].into_iter().filter_map(move |step: isize| {
        let next = at.checked_add_signed(step)?;
        let is_start = blocks.kind(*side.get(next)?) == BlockKind::Parameters;
        Some(if is_start { (next.checked_add_signed(step)?, Some(next)) } else { (next, None) })
    })
}

/// The older text at `old` is the newer texts at `new` and `other` combined.
fn is_cut(sides: &Sides<'_>, pairs: &[Pair], old: usize, new: usize, other: usize) -> bool {
    let came = other < sides.new.len() && pairs.iter().any(|pair| pair.new == Some(other) && pair.old.is_none());
    let both = || [new.min(other), new.max(other)].map(|at| sides.new[at]);
    came && same_speaker(sides, sides.new[new], sides.new[other])
        && together(&sides.wire.blocks, sides.old[old], both())
}

/// The newer text at `new` is the older texts at `old` and `other` combined.
fn is_joined(sides: &Sides<'_>, pairs: &[Pair], old: usize, new: usize, other: usize) -> bool {
    let went = other < sides.old.len() && pairs.iter().any(|pair| pair.old == Some(other) && pair.new.is_none());
    let both = || [old.min(other), old.max(other)].map(|at| sides.old[at]);
    went && same_speaker(sides, sides.old[old], sides.old[other])
        && together(&sides.wire.blocks, sides.new[new], both())
}

/// The newer text at `new` was made of the older call or result at `old`, and contains the older text at `other` too.
fn is_absorbed(sides: &Sides<'_>, pairs: &[Pair], old: usize, new: usize, other: usize) -> bool {
    let blocks = &sides.wire.blocks;
    let went = other < sides.old.len() && pairs.iter().any(|pair| pair.old == Some(other) && pair.new.is_none());
    let is_flattened = || classify::flattened_title(blocks, sides.old[old], sides.new[new]).is_some();
    let holds = |block: BlockId| {
        let told = text(blocks.bytes(block)).filter(|told| !told.is_empty());
        told.is_some_and(|told| memchr::memmem::find(blocks.bytes(sides.new[new]), told).is_some())
    };
    went && is_flattened() && same_speaker(sides, sides.old[old], sides.old[other]) && holds(sides.old[other])
}

fn same_speaker(sides: &Sides<'_>, one: BlockId, two: BlockId) -> bool {
    let blocks = &sides.wire.blocks;
    (blocks.level(one), blocks.role(one)) == (blocks.level(two), blocks.role(two))
}

/// The text of a text block, as spelled in canonical bytes.
pub(super) fn text(block: &[u8]) -> Option<&[u8]> {
    block.strip_prefix(HEAD)?.strip_suffix(TAIL)
}

const HEAD: &[u8] = br#"{"text":""#;
const TAIL: &[u8] = br#"","type":"text"}"#;

/// What may be between two texts that were one.
const SEAMS: [&[u8]; 4] = [b"", b" ", b"\\n", b"\\n\\n"];

/// The whole is the two parts concatenated, with at most a line break between them.
fn together(blocks: &Blocks, whole: BlockId, parts: [BlockId; 2]) -> bool {
    let [first, second] = parts;
    if [whole, first, second].iter().any(|block| blocks.kind(*block) != BlockKind::Text) {
        return false;
    }
    if [whole, first, second].iter().any(|block| blocks.is_outline(*block)) {
        return together_by_digests(blocks, whole, parts) == Some(true);
    }
    let [whole, first, second] = [whole, first, second].map(|block| text(blocks.bytes(block)));
    let (Some(whole), Some(first), Some(second)) = (whole, first, second) else { return false };
    let rest = whole.strip_prefix(first).and_then(|rest| rest.strip_suffix(second));
    !first.is_empty() && !second.is_empty() && rest.is_some_and(|rest| SEAMS.contains(&rest))
}

/// The same for digests; `None` if one of them is unknown.
fn together_by_digests(blocks: &Blocks, whole: BlockId, [first, second]: [BlockId; 2]) -> Option<bool> {
    let len = |block: BlockId| blocks.len_bytes(block).checked_sub((HEAD.len() + TAIL.len()) as u64);
    let [whole_len, first_len, second_len] = [len(whole)?, len(first)?, len(second)?];
    let [whole, first, second] = [rest(blocks, whole)?, rest(blocks, first)?, rest(blocks, second)?];
    let is_seam = |seam: &[u8]| {
        let begun = joined(first, text_digest(seam), seam.len() as u64);
        let seam_len = whole_len.checked_sub(first_len).and_then(|rest| rest.checked_sub(second_len));
        seam_len == Some(seam.len() as u64) && joined(begun, second, second_len) == whole
    };
    Some(first_len > 0 && second_len > 0 && SEAMS.into_iter().any(is_seam))
}
