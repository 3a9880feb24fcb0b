//! Byte-pair merging of one piece, for pieces that `tiktoken` does not split correctly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use forkcast_sim::wire::{Index, number};
use tiktoken::CoreBpe;

/// Ids of all tokens by their bytes. An id is also the rank of the merge that produces the token.
pub(super) struct Ranks(Index<Vec<u8>, u32>);

impl Ranks {
    /// The ranks of `encoding`, decoded token by token.
    pub fn of(encoding: &CoreBpe) -> Self {
        let mut ranks = Index::default();
        for id in 0..number(encoding.vocab_size()) {
            ranks.insert(encoding.decode(&[id]), id);
        }
        Self(ranks)
    }

    fn get(&self, bytes: &[u8]) -> Option<u32> {
        // The map owns its keys; pieces and their parts are short here.
        self.0.get(&bytes.to_vec()).copied()
    }

    /// Number of tokens in `piece`: neighbours whose union is a token are joined, lowest rank first and leftmost first
    /// if equal, until no such pair is left.
    pub fn count(&self, piece: &[u8]) -> usize {
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

    fn candidate(&self, piece: &[u8], parts: &Parts, at: usize) -> Option<Reverse<(u32, usize, usize)>> {
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
