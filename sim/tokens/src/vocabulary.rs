//! Exact counts for OpenAI's two public vocabularies.
//!
//! Long texts are counted by the crate `tiktoken`, pinned to one release. It keeps a per-thread cache of pieces (1.2 MB)
//! and unpacks a vocabulary at its first count (50 ms, 24 MB). A process that counts little need not unpack: the first
//! `LITTLE_BYTES_MAX` bytes are counted by the published pattern, in tables that are part of the program.
//! `tests/vocabularies.rs` compares both ways with `tiktoken-rs`.

mod layout;
mod merge;
mod pattern;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use forkcast_sim::words;

use tiktoken::CoreBpe;

/// Counting this by the pattern takes 15 ms (30 MB/s, 2026-11-25); unpacking takes 50 ms, which more text repays.
const LITTLE_BYTES_MAX: usize = 500_000;

words! {
    /// A built-in byte-pair vocabulary.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Vocabulary {
        /// `o200k_base`: gpt-4o and later.
        O200k = "o200k_base",
        /// `cl100k_base`: gpt-4 and gpt-3.5.
        Cl100k = "cl100k_base",
    }
}

impl Vocabulary {
    /// Tokens of `text`. Special tokens in the text (`<|endoftext|>`) count as ordinary text, as in a prompt.
    pub fn count(self, text: &str) -> u64 {
        if self.is_little(text.len()) || pattern::concerns(text) {
            return self.count_by_pattern(text);
        }
        self.unpacked().map_or_else(|| self.count_by_pattern(text), |encoding| encoding.count(text) as u64)
    }

    /// The same count by the published pattern: three times slower for long texts, but nothing is unpacked.
    pub fn count_by_pattern(self, text: &str) -> u64 {
        // Every byte is a token in the upper bound of all byte-pair vocabularies.
        pattern::count(self, text).unwrap_or(text.len()) as u64
    }

    /// Tokens of `bytes` read as UTF-8. Each maximal ill-formed part counts as U+FFFD, because decoders replace it
    /// before a provider sees the text.
    pub fn count_bytes(self, bytes: &[u8]) -> u64 {
        self.count(&String::from_utf8_lossy(bytes))
    }

    /// Whether the process has counted little, with `bytes` more.
    fn is_little(self, bytes: usize) -> bool {
        static COUNTED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let counted = &COUNTED[self as usize];
        let before = counted.load(Ordering::Relaxed);
        // Afterwards nothing is added, so that the sum does not overflow.
        before <= LITTLE_BYTES_MAX
            && counted.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= LITTLE_BYTES_MAX
    }

    /// Both vocabularies are compiled in, so there is always one.
    fn unpacked(self) -> Option<&'static CoreBpe> {
        static UNPACKED: [OnceLock<Option<&'static CoreBpe>>; 2] = [OnceLock::new(), OnceLock::new()];
        *UNPACKED[self as usize].get_or_init(|| tiktoken::get_encoding(self.name()))
    }
}
