//! Two prompts block by block: what stayed, what went, what came.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::wire::{BlockId, Prefixes, Request};

/// A stretch in which two prompts differ: blocks `old` of the older stand where blocks `new` of the newer stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Indices in the older prompt.
    pub old: std::ops::Range<usize>,
    /// Indices in the newer prompt.
    pub new: std::ops::Range<usize>,
}

/// How two prompts lie beside each other.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// For each block of the newer prompt the block of the older that it is, where it stood there.
    pub partner: Vec<Option<usize>>,
    /// The stretches that differ, in prompt order.
    pub gaps: Vec<Gap>,
    /// Blocks of the older prompt.
    pub old_len: usize,
}

impl Alignment {
    /// How many leading blocks are equal.
    pub fn common(&self) -> usize {
        self.gaps.first().map_or(self.partner.len(), |gap| gap.new.start)
    }

    /// The newer prompt only adds behind the end of the older.
    pub fn appends(&self) -> bool {
        self.gaps.iter().all(|gap| gap.old.is_empty() && gap.old.start == self.old_len)
    }
}

/// The blocks of a request in prompt order.
pub fn blocks(request: &Request, prefixes: &Prefixes) -> Vec<BlockId> {
    request.nodes.iter().filter_map(|node| prefixes.block(*node)).collect()
}

/// Lays the newer prompt beside the older.
pub fn align(old: &[BlockId], new: &[BlockId]) -> Alignment {
    let mut alignment = Alignment { partner: vec![None; new.len()], gaps: Vec::new(), old_len: old.len() };
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                for step in 0..len {
                    alignment.partner[new_index + step] = Some(old_index + step);
                }
            }
            other => push_gap(&mut alignment.gaps, Gap { old: other.old_range(), new: other.new_range() }),
        }
    }
    alignment
}

/// Adds a gap, as one with the gap before where they touch.
fn push_gap(gaps: &mut Vec<Gap>, gap: Gap) {
    match gaps.last_mut() {
        Some(last) if last.old.end == gap.old.start && last.new.end == gap.new.start => {
            last.old.end = gap.old.end;
            last.new.end = gap.new.end;
        }
        _ => gaps.push(gap),
    }
}
