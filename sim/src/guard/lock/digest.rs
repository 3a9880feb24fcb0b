//! Digests in a lock.

use std::fmt;

/// The first 64 bits of a blake3 digest: enough to distinguish a billion blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u64);

/// Hexadecimal digits of a digest of a block or a level.
pub(super) const DIGITS: usize = 16;

/// Hexadecimal digits of a digest of 256 bytes.
pub(super) const CHUNK_DIGITS: usize = 8;

impl Digest {
    /// The beginning of a full digest.
    pub fn of(whole: &blake3::Hash) -> Self {
        Self(whole.as_bytes().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// The digest of a sequence of digests.
    pub fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&part.0.to_be_bytes());
        }
        Self::of(&hasher.finalize())
    }

    /// Its bits.
    pub(super) const fn number(self) -> u64 {
        self.0
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn read(text: &str) -> Option<Self> {
        (is_hex(text) && text.len() == DIGITS).then(|| u64::from_str_radix(text, 16).ok().map(Self))?
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Concatenated digests of 256 bytes each; `None` if the text is no such list.
pub(super) fn chunks(text: &str) -> Option<Vec<u32>> {
    if !is_hex(text) || !text.len().is_multiple_of(CHUNK_DIGITS) {
        return None;
    }
    let parts = (0..text.len()).step_by(CHUNK_DIGITS).map(|at| text.get(at..at + CHUNK_DIGITS));
    parts.map(|part| u32::from_str_radix(part?, 16).ok()).collect()
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{Digest, chunks};
    use crate::wire::part_digest as short;

    #[test]
    fn digests_come_back_from_their_text() {
        let digest = Digest::of(&blake3::hash(b"one"));
        assert_eq!(Digest::read(&digest.to_string()), Some(digest));
        for broken in ["", "12", "zz23456789abcdef", "0123456789ABCDEF", "+123456789abcdef", "0123456789abcdef0"] {
            assert_eq!(Digest::read(broken), None, "{broken}");
        }
        let text = format!("{:08x}{:08x}", short(b"a"), short(b"b"));
        assert_eq!(chunks(&text), Some(vec![short(b"a"), short(b"b")]));
        assert_eq!((chunks(""), chunks("0123456"), chunks("0123456é")), (Some(Vec::new()), None, None));
    }
}
