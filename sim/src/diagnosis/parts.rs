//! What two blocks have in common at their ends if only digests of the parts of one are known.

use crate::wire::{BlockId, Blocks, PART_BYTES};

/// What digests of parts show of two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartEnds {
    /// Equal bytes at the beginning, in whole parts.
    pub start: u64,
    /// The same at the end. Parts are counted from the beginning, so this is only known if lengths differ by whole
    /// parts.
    end: u64,
    /// Most bytes that can be equal: of a part that differs perhaps a single one is new.
    pub at_most: u64,
}

impl PartEnds {
    /// The equal ends of `old` and `new`; `None` if neither content nor parts of one of them are known.
    pub fn of(blocks: &Blocks, old: BlockId, new: BlockId) -> Option<Self> {
        let [old_len, new_len] = [old, new].map(|block| blocks.len_bytes(block));
        let (was, is) = (blocks.parts(old)?, blocks.parts(new)?);
        let part = PART_BYTES as u64;
        let first = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
        let rest = was.len().min(is.len()) - first;
        let alike = was.iter().rev().zip(is.iter().rev()).take(rest).take_while(|(was, is)| was == is).count();
        let last = if old_len % part == new_len % part { alike } else { 0 };
        let (from, to) = (first as u64 * part, (is.len() - last) as u64 * part);
        let start = from.min(old_len).min(new_len);
        Some(Self { start, end: new_len.saturating_sub(to), at_most: old_len.min(new_len) })
    }

    /// Bytes that are certainly equal.
    pub const fn equal(&self) -> u64 {
        self.start + self.end
    }

    /// The part of `new_len` bytes in which the difference begins.
    pub fn range(&self, new_len: u64) -> [u64; 2] {
        [self.start, (self.start + PART_BYTES as u64).min(new_len)]
    }
}

#[cfg(test)]
mod tests {
    use super::PartEnds;
    use crate::wire::{Blocks, Content, Level};

    fn ends(old: &[u8], new: &[u8]) -> Option<PartEnds> {
        let mut blocks = Blocks::default();
        let [old, new] = [old, new].map(|bytes| blocks.intern(Content::parameters(Level::Tools, bytes)));
        PartEnds::of(&blocks, old, new)
    }

    #[test]
    fn whole_parts_are_equal_at_the_ends() {
        let old = [b'a'; 1_000];
        let mut new = old;
        new[300] = b'b';
        assert_eq!(ends(&old, &new), Some(PartEnds { start: 256, end: 1_000 - 512, at_most: 1_000 }));
        new[900] = b'b';
        assert_eq!(ends(&old, &new), Some(PartEnds { start: 256, end: 0, at_most: 1_000 }));
        assert_eq!(ends(&old, &old[..512]), Some(PartEnds { start: 512, end: 0, at_most: 512 }));
        assert_eq!(ends(&old, b"x"), Some(PartEnds { start: 0, end: 0, at_most: 1 }));
    }
}
