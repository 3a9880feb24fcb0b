//! Byte-pair merging of one piece, in a vocabulary that is part of the program.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::layout::{HEADER_BYTES, ID_BITS, place};

/// Ids of all tokens by their bytes, see [`super::layout`]. An id is also the rank of the merge that produces the token.
#[derive(Clone, Copy)]
pub(super) struct Ranks(&'static [u8]);

impl Ranks {
    pub const O200K: Self = Self(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")));
    pub const CL100K: Self = Self(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")));

    fn number(self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.0.get(at..)?.first_chunk()?))
    }

    fn get(self, bytes: &[u8]) -> Option<u32> {
        let (begin, tag) = place(bytes);
        let slots = self.number(0)? as usize;
        // A quarter of the slots is free, so the search ends.
        for at in begin.. {
            let slot = self.number(HEADER_BYTES + 4 * (at & (slots - 1)))?;
            if slot == 0 {
                return None;
            }
            let id = (slot & ((1 << ID_BITS) - 1)) - 1;
            if slot >> ID_BITS == tag >> ID_BITS && self.token(slots, id as usize)? == bytes {
                return Some(id);
            }
        }
        None
    }

    /// The bytes of a token.
    fn token(self, slots: usize, id: usize) -> Option<&'static [u8]> {
        let ends = HEADER_BYTES + 4 * slots;
        let begin = id.checked_sub(1).map_or(Some(0), |before| self.number(ends + 4 * before))?;
        let all = self.0.get(ends + 4 * self.number(4)? as usize..)?;
        all.get(begin as usize..self.number(ends + 4 * id)? as usize)
    }

    /// Number of tokens in `piece`: neighbours whose union is a token are joined, lowest rank first and leftmost first
    /// if equal, until no such pair is left.
    pub fn count(self, piece: &[u8]) -> usize {
        if self.get(piece).is_some() {
            return 1;
        }
        let mut parts = Parts::new(piece.len());
        let mut candidates = BinaryHeap::new();
        for at in 0..piece.len() {
            candidates.extend(self.candidate(piece, &parts, at));
        }
        let mut count = piece.len();
        while let Some(Reverse(best)) = candidates.pop() {
            let (_, at, end) = best;
            // A candidate is void once one of its halves has been joined to another part.
            if !parts.is_live(at) || self.candidate(piece, &parts, at) != Some(Reverse(best)) {
                continue;
            }
            parts.join(at, end);
            count -= 1;
            candidates.extend(self.candidate(piece, &parts, at));
            candidates.extend(parts.before(at).and_then(|before| self.candidate(piece, &parts, before)));
        }
        count
    }

    fn candidate(self, piece: &[u8], parts: &Parts, at: usize) -> Option<Reverse<(u32, usize, usize)>> {
        let end = parts.end_of_pair(at)?;
        Some(Reverse((self.get(piece.get(at..end)?)?, at, end)))
    }
}

/// The parts of a piece: for each byte where a part begins, the end of that part and the beginning of the previous one.
struct Parts {
    ends: Vec<usize>,
    befores: Vec<Option<usize>>,
}

impl Parts {
    fn new(len: usize) -> Self {
        Self { ends: (1..=len).collect(), befores: (0..len).map(|at| at.checked_sub(1)).collect() }
    }

    fn is_live(&self, at: usize) -> bool {
        self.ends[at] > at
    }

    fn before(&self, at: usize) -> Option<usize> {
        self.befores[at]
    }

    /// The end of the part after the one at `at`, if there is one.
    fn end_of_pair(&self, at: usize) -> Option<usize> {
        self.ends.get(self.ends[at]).copied()
    }

    /// Joins the part at `at` with its neighbour, which ends at `end`.
    fn join(&mut self, at: usize, end: usize) {
        let second = self.ends[at];
        self.ends[at] = end;
        // A part that ends at or before its beginning is dead.
        self.ends[second] = 0;
        if let Some(before) = self.befores.get_mut(end) {
            *before = Some(at);
        }
    }
}
