//! Counting by the vocabularies' published patterns: short texts, for which unpacking a vocabulary would take longer, and the
//! only case in which `tiktoken` 4.1.2 splits a text differently: an apostrophe before a long s (`'ſ`, U+017F). The patterns
//! match English contractions case-insensitively, and in Unicode the long s is a case variant of `s`; the crate's scanner
//! only knows ASCII letters. Found by `tests/vocabularies.rs`, 2026-11. Texts with that pair are rare (old prints).

use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;

use super::Vocabulary;
use super::merge::Ranks;

/// The pair of characters that is split wrongly.
const PAIR: &str = "'\u{17f}";

/// The patterns as published, without the look-ahead `\s+(?!\S)`, which [`Pieces`] implements by hand. Source:
/// `openai_public.py` of the vendor's tokenizer, as repeated by tiktoken-rs 0.12.1.
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
);
const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s+$|\s*[\r\n]|\s+",
);

/// Whether `text` must be counted here.
pub(super) fn concerns(text: &str) -> bool {
    memmem::find(text.as_bytes(), PAIR.as_bytes()).is_some()
}

/// Tokens of `text`, piece by piece. `None` if a pattern cannot be compiled, which no input can cause.
pub(super) fn count(vocabulary: Vocabulary, text: &str) -> Option<usize> {
    static PATTERNS: [OnceLock<Option<Regex>>; 4] = [const { OnceLock::new() }; 4];
    let (ranks, pattern) = match vocabulary {
        Vocabulary::O200k => (Ranks::O200K, O200K),
        Vocabulary::Cl100k => (Ranks::CL100K, CL100K),
    };
    let is_ascii = text.is_ascii();
    let slot = &PATTERNS[2 * vocabulary as usize + usize::from(is_ascii)];
    let pattern = slot.get_or_init(|| match is_ascii {
        true => Regex::new(&in_ascii(pattern)).ok(),
        false => Regex::new(pattern).ok(),
    });
    let pattern = pattern.as_ref()?;
    Some(Pieces { pattern, text, at: 0 }.map(|piece| ranks.count(piece.as_bytes())).sum())
}

/// The same pattern for ASCII texts: compiling the classes of Unicode takes longer than counting a short text.
fn in_ascii(pattern: &str) -> String {
    let classes = [
        (r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", "A-Z"),
        (r"\p{Ll}\p{Lm}\p{Lo}\p{M}", "a-z"),
        (r"\p{L}", "[A-Za-z]"),
        (r"\p{N}", "[0-9]"),
    ];
    classes.into_iter().fold(pattern.to_owned(), |pattern, (class, ascii)| pattern.replace(class, ascii))
}

struct Pieces<'a> {
    pattern: &'a Regex,
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let found = self.pattern.find_at(self.text, self.at)?;
        let mut end = found.end();
        let piece = found.as_str();
        // `\s+(?!\S)`: white space before other text leaves its last character to the next piece.
        let is_space = piece.chars().all(char::is_whitespace) && !piece.ends_with(['\r', '\n']);
        if is_space && end < self.text.len() && piece.chars().nth(1).is_some() {
            end -= piece.chars().next_back().map_or(0, char::len_utf8);
        }
        let piece = self.text.get(found.start()..end)?;
        self.at = end;
        Some(piece)
    }
}
