//! What two texts have in common at their ends.

/// Bytes compared at once.
const STEP: usize = 64;

/// How many bytes two texts have in common at their beginning and, after that, at their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonEnds {
    /// Bytes with which both begin.
    pub start: usize,
    /// Bytes with which both end.
    pub end: usize,
}

impl CommonEnds {
    /// Of any two texts.
    pub fn of(old: &[u8], new: &[u8]) -> Self {
        Self::behind(first_difference(old, new), old, new)
    }

    /// On boundaries of the characters of `new`.
    pub fn of_characters(old: &[u8], new: &[u8]) -> Self {
        let start = boundary_before(new, first_difference(old, new));
        let end = Self::behind(start, old, new).end;
        Self { start, end: new.len() - boundary_after(new, new.len() - end) }
    }

    /// The ends of two texts after their first `start` bytes.
    pub fn behind(start: usize, old: &[u8], new: &[u8]) -> Self {
        let [old, new] = [old, new].map(|text| text.get(start..).unwrap_or_default());
        let steps = old.rchunks_exact(STEP).zip(new.rchunks_exact(STEP)).take_while(|(old, new)| old == new).count();
        let [old, new] = [old, new].map(|text| &text[..text.len() - steps * STEP]);
        let bytes = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        Self { start, end: steps * STEP + bytes }
    }

    /// Both together.
    pub const fn len(&self) -> usize {
        self.start + self.end
    }

    /// Whether there is neither.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The offset of the first byte in which two texts differ; if one text begins with the other, the end of the shorter.
pub fn first_difference(old: &[u8], new: &[u8]) -> usize {
    let steps = old.chunks_exact(STEP).zip(new.chunks_exact(STEP)).take_while(|(old, new)| old == new).count();
    let from = steps * STEP;
    from + old[from..].iter().zip(&new[from..]).take_while(|(old, new)| old == new).count()
}

/// The last boundary of characters at or before `at`.
pub(super) fn boundary_before(text: &[u8], at: usize) -> usize {
    (0..=at).rev().find(|at| is_boundary(text, *at)).unwrap_or(0)
}

/// The first boundary of characters at or after `at`.
pub(super) fn boundary_after(text: &[u8], at: usize) -> usize {
    (at..text.len()).find(|at| is_boundary(text, *at)).unwrap_or(text.len())
}

/// Bytes 10xxxxxx continue a character of UTF-8.
fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::{CommonEnds, first_difference};

    fn characters(old: &str, new: &str) -> usize {
        CommonEnds::of_characters(old.as_bytes(), new.as_bytes()).len()
    }

    #[test]
    fn ends_never_overlap() {
        assert_eq!(CommonEnds::of(b"ten past two", b"ten to two"), CommonEnds { start: 4, end: 4 });
        assert_eq!(CommonEnds::of(b"aaaa", b"aa"), CommonEnds { start: 2, end: 0 });
        assert!(CommonEnds::of(b"", b"new").is_empty());
    }

    #[test]
    fn ends_may_be_on_boundaries_of_characters() {
        assert_eq!(characters("ten past two", "ten to two"), "ten ".len() + " two".len());
        // é and è begin with the same byte, ê and Ê of another script may end with one.
        assert_eq!(characters("né", "nè"), 1);
        assert_eq!(characters("\u{e9}n", "\u{129}n"), 1);
    }

    #[test]
    fn long_texts_are_compared_to_the_byte() {
        // No two steps of this text are equal.
        let old: [u8; 300] = std::array::from_fn(|at| (at % 251) as u8);
        for at in [0, 1, 63, 64, 65, 127, 128, 200, 299] {
            let mut new = old;
            new[at] ^= 255;
            assert_eq!(first_difference(&old, &new), at);
            assert_eq!(CommonEnds::of(&old, &new), CommonEnds { start: at, end: 299 - at });
            assert_eq!(CommonEnds::of(&old[..at], &old), CommonEnds { start: at, end: 0 });
            let inserted = [&old[..at], &[255, 254], &old[at..]].concat();
            assert_eq!(CommonEnds::of(&old, &inserted), CommonEnds { start: at, end: 300 - at });
        }
    }

    /// Byte by byte, from the end.
    fn end_by_bytes(start: usize, old: &[u8], new: &[u8]) -> usize {
        let most = old.len().min(new.len()).saturating_sub(start);
        (0..most).take_while(|back| old[old.len() - 1 - back] == new[new.len() - 1 - back]).count()
    }

    #[test]
    fn ends_are_the_same_byte_by_byte_from_any_start() {
        // Texts that repeat are equal at their ends beyond an earlier start, in steps and between them.
        let period: [u8; 7] = *b"abcabca";
        let text = |len: usize, changed: usize| -> Vec<u8> {
            (0..len).map(|at| if at + 1 == changed { b'!' } else { period[at % 7] }).collect()
        };
        for (old_len, new_len) in [(0, 9), (70, 63), (128, 135), (200, 193), (300, 300), (321, 130)] {
            for changed in [0, 1, 60, 64, 65, 100, 129, 193] {
                let (old, new) = (text(old_len, 0), text(new_len, changed));
                let first = first_difference(&old, &new);
                for start in [0, 1, first / 2, first.saturating_sub(1), first] {
                    let ends = CommonEnds::behind(start, &old, &new);
                    let expected = CommonEnds { start, end: end_by_bytes(start, &old, &new) };
                    assert_eq!(ends, expected, "{old_len} and {new_len} bytes, {changed} changed, from {start}");
                }
            }
        }
    }
}
