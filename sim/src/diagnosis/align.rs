//! Aligns two prompts block by block: which blocks stayed, which were removed, which were added.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::wire::{BlockId, BlockKind, Blocks, MESSAGE_START, Prefixes, Request, json};

/// A stretch in which two prompts differ: blocks `new` of the newer replace blocks `old` of the older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Indices in the older prompt.
    pub old: Range<usize>,
    /// Indices in the newer prompt.
    pub new: Range<usize>,
}

/// How the blocks of two prompts correspond.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// For each block of the newer prompt, the block of the older prompt that it equals, if there is one.
    pub partner: Vec<Option<usize>>,
    /// The stretches that differ, in prompt order.
    pub gaps: Vec<Gap>,
    /// Blocks of the older prompt.
    pub old_len: usize,
}

impl Alignment {
    /// A newer prompt of `new_len` blocks that begins with all `old_len` of the older.
    pub(super) fn appended(old_len: usize, new_len: usize) -> Self {
        let partner = (0..new_len).map(|at| (at < old_len).then_some(at)).collect();
        let gap = Gap { old: old_len..old_len, new: old_len..new_len };
        Self { partner, gaps: if new_len > old_len { vec![gap] } else { Vec::new() }, old_len }
    }

    /// How many leading blocks are equal.
    pub fn common(&self) -> usize {
        self.gaps.first().map_or(self.partner.len(), |gap| gap.new.start)
    }

    /// The newer prompt only appends to the older.
    pub fn appends(&self) -> bool {
        self.gaps.iter().all(|gap| gap.old.is_empty() && gap.old.start == self.old_len)
    }
}

/// The blocks of a request in prompt order.
pub fn blocks(request: &Request, prefixes: &Prefixes) -> Vec<BlockId> {
    request.nodes.iter().filter_map(|node| prefixes.block(*node)).collect()
}

/// Aligns the newer prompt with the older. Their common beginning is matched block by block, as a cache matches it:
/// with repeated blocks, a general alignment may put a difference before it.
pub fn align(old: &[BlockId], new: &[BlockId]) -> Alignment {
    align_messages(old, new, |_| false)
}

/// The same for prompts in which some blocks only say that a message begins: after the common beginning, each of them
/// belongs to the block after it. All of them are equal, so they show nothing about which message became which.
pub(super) fn align_messages(old: &[BlockId], new: &[BlockId], is_start: impl Fn(BlockId) -> bool) -> Alignment {
    let common = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let content = |side: &[BlockId]| (common..side.len()).filter(|at| !is_start(side[*at])).collect::<Vec<usize>>();
    let (old_at, new_at) = (content(old), content(new));
    let ids = |side: &[BlockId], at: &[usize]| at.iter().map(|at| side[*at]).collect::<Vec<_>>();
    let matched = matches(&ids(old, &old_at), &ids(new, &new_at));
    let mut partner: Vec<Option<usize>> = (0..new.len()).map(|at| (at < common).then_some(at)).collect();
    for (old_index, new_index) in matched.into_iter().map(|(old, new)| (old_at[old], new_at[new])) {
        partner[new_index] = Some(old_index);
        if old_index > common && new_index > common && old[old_index - 1] == new[new_index - 1] {
            let starts = is_start(old[old_index - 1]);
            partner[new_index - 1] = partner[new_index - 1].or(starts.then_some(old_index - 1));
        }
    }
    Alignment { gaps: gaps(&partner, old.len()), partner, old_len: old.len() }
}

/// Indices of equal blocks. If matching them by index keeps as many as any alignment, nothing moved: a block that is
/// repeated after the history might otherwise be matched with one that was changed within it.
fn matches(old: &[BlockId], new: &[BlockId]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if let DiffOp::Equal { .. } = op {
            found.extend(op.old_range().zip(op.new_range()));
        }
    }
    let in_place = || (0..old.len().min(new.len())).filter(|at| old[*at] == new[*at]);
    if in_place().count() == found.len() { in_place().map(|at| (at, at)).collect() } else { found }
}

/// The stretches between blocks that have a partner.
fn gaps(partner: &[Option<usize>], old_len: usize) -> Vec<Gap> {
    let kept = partner.iter().enumerate().filter_map(|(new, old)| Some(((*old)?, new)));
    let (mut gaps, mut end) = (Vec::new(), (0, 0));
    for (old, new) in kept.chain([(old_len, partner.len())]) {
        if end != (old, new) {
            gaps.push(Gap { old: end.0..old, new: end.1..new });
        }
        end = (old + 1, new + 1);
    }
    gaps
}

/// Whether a block only says that a message begins, in a body or in a lock.
pub(super) fn is_message_start(blocks: &Blocks, block: BlockId) -> bool {
    blocks.kind(block) == BlockKind::Parameters && {
        let mut keys = json::members(blocks.bytes(block)).flatten().map(|(key, _)| key);
        keys.next().is_some_and(|key| key.get(1..key.len() - 1) == Some(MESSAGE_START.as_bytes()))
            && keys.next().is_none()
    }
}
