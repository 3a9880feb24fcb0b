//! Exact counts for OpenAI's two public vocabularies.
//!
//! Counting uses the crate `tiktoken`, pinned to one release; `tests/vocabularies.rs` compares it with `tiktoken-rs`.
//! It keeps a per-thread cache of pieces (1.2 MB) and unpacks a vocabulary at the first count (30 to 70 ms).

mod contraction;
mod merge;

use std::sync::OnceLock;

use tiktoken::CoreBpe;

/// A built-in byte-pair vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: gpt-4o and later.
    O200k,
    /// `cl100k_base`: gpt-4 and gpt-3.5.
    Cl100k,
}

impl Vocabulary {
    /// Both vocabularies.
    pub const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// Its published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    /// Tokens of `text`. Special tokens in the text (`<|endoftext|>`) count as ordinary text, as in a prompt.
    pub fn count(self, text: &str) -> u64 {
        let Some(encoding) = self.encoding() else { return text.len() as u64 };
        let by_pattern = if contraction::concerns(text) { contraction::count(self, encoding, text) } else { None };
        by_pattern.unwrap_or_else(|| encoding.count(text)) as u64
    }

    /// Tokens of `bytes` read as UTF-8. Each maximal ill-formed part counts as U+FFFD, because decoders replace it
    /// before a provider sees the text.
    pub fn count_bytes(self, bytes: &[u8]) -> u64 {
        self.count(&String::from_utf8_lossy(bytes))
    }

    /// Both vocabularies are compiled in, so there is always one; otherwise every byte would count as a token, which is
    /// the upper bound of all byte-pair vocabularies.
    fn encoding(self) -> Option<&'static CoreBpe> {
        static O200K: OnceLock<Option<&'static CoreBpe>> = OnceLock::new();
        static CL100K: OnceLock<Option<&'static CoreBpe>> = OnceLock::new();
        let slot = match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
        };
        *slot.get_or_init(|| tiktoken::get_encoding(self.name()))
    }
}
