//! Aligns two prompts block by block: which blocks stayed, which were removed, which were added.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::wire::{BlockId, Prefixes, Request};

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
    let common = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let partner = (0..new.len()).map(|at| (at < common).then_some(at)).collect();
    let mut alignment = Alignment { partner, gaps: Vec::new(), old_len: old.len() };
    let behind = |range: Range<usize>| range.start + common..range.end + common;
    for op in capture_diff_slices(Algorithm::Myers, &old[common..], &new[common..]) {
        let gap = Gap { old: behind(op.old_range()), new: behind(op.new_range()) };
        match op {
            DiffOp::Equal { .. } => {
                for (old, new) in gap.old.zip(gap.new) {
                    alignment.partner[new] = Some(old);
                }
            }
            _ => push_gap(&mut alignment.gaps, gap),
        }
    }
    let stay = old.iter().zip(new).skip(common).filter(|(old, new)| old == new).count();
    let kept = alignment.partner.iter().skip(common).flatten().count();
    if stay == kept { in_place(old, new) } else { alignment }
}

/// Matches blocks by index. If this keeps as many blocks as any alignment, nothing moved: a block that is repeated
/// after the history might otherwise be matched with one that was changed within it.
fn in_place(old: &[BlockId], new: &[BlockId]) -> Alignment {
    let mut alignment = Alignment { partner: vec![None; new.len()], gaps: Vec::new(), old_len: old.len() };
    for (at, partner) in alignment.partner.iter_mut().enumerate().take(old.len()) {
        if old[at] == new[at] {
            *partner = Some(at);
        } else {
            push_gap(&mut alignment.gaps, Gap { old: at..at + 1, new: at..at + 1 });
        }
    }
    let both = old.len().min(new.len());
    if old.len() != new.len() {
        push_gap(&mut alignment.gaps, Gap { old: both..old.len(), new: both..new.len() });
    }
    alignment
}

/// Adds a gap, merged with the previous one if they touch.
fn push_gap(gaps: &mut Vec<Gap>, gap: Gap) {
    match gaps.last_mut() {
        Some(last) if last.old.end == gap.old.start && last.new.end == gap.new.start => {
            last.old.end = gap.old.end;
            last.new.end = gap.new.end;
        }
        _ => gaps.push(gap),
    }
}
