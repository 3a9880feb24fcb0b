//! Random ids.

use super::Word;

/// With dashes or without.
fn is_uuid(word: &str) -> bool {
    let digits = |word: &str| word.chars().all(|c| c.is_ascii_hexdigit());
    let dashed = |(at, c): (usize, char)| if matches!(at, 8 | 13 | 18 | 23) { c == '-' } else { c.is_ascii_hexdigit() };
    match word.len() {
        36 => word.char_indices().all(dashed),
        32 => digits(word) && word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic()),
        _ => is_ulid(word),
    }
}

/// 26 letters and digits of Crockford's base 32, the first of them below eight.
fn is_ulid(word: &str) -> bool {
    let of_base = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() && !"ILOU".contains(c);
    word.len() == 26 && word.chars().all(of_base) && word.starts_with(|c| ('0'..='7').contains(&c))
}

/// The words are equal except for ids in them: alone, after a name, in a path.
pub(super) fn differ_in_ids(words: &[Word; 2]) -> bool {
    let parts =
        |word: &Word| -> Vec<String> { word.text.split(['=', ':', '/', '_', '?', '&']).map(str::to_owned).collect() };
    let (old, new) = (parts(&words[0]), parts(&words[1]));
    let differ: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new).collect();
    old.len() == new.len() && !differ.is_empty() && differ.iter().all(|(old, new)| is_uuid(old) && is_uuid(new))
}

/// An id in hexadecimal digits.
pub(super) fn is_hex_id(word: &str) -> bool {
    let word = word.rsplit(['=', ':', '/', '_', '#']).next().unwrap_or(word);
    let digits = word.chars().filter(char::is_ascii_digit).count();
    (8..=64).contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit()) && (digits > 0 && digits < word.len())
}

/// One name with another id after it, such as `subagent_5d8a1b2c` or `planning-agent-1d665b`.
pub(super) fn differ_in_suffix(words: &[Word; 2]) -> bool {
    let [old, new] = [0, 1].map(|at| words[at].text.rsplit_once(['_', '-']));
    let named = old.zip(new).filter(|((old, _), (new, _))| old == new && old.chars().all(is_of_name));
    let is_short = || words.iter().all(|word| word.text.rsplit_once('-').is_some_and(|(_, id)| is_short_hex_id(id)));
    named.is_some_and(|((name, old), (_, new))| {
        !name.is_empty() && old != new && (is_hex_id(old) && is_hex_id(new) || old.len() == new.len() && is_short())
    })
}

/// Six or seven hexadecimal digits as programs write them; without a decimal digit it may be a word, without a letter a
/// number or a date.
fn is_short_hex_id(id: &str) -> bool {
    let digits = id.chars().filter(char::is_ascii_digit).count();
    let is_hex = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    (6..=7).contains(&id.len()) && id.chars().all(is_hex) && (1..id.len()).contains(&digits)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '-')
}

pub(super) fn is_git_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
        && word.chars().any(|c| c.is_ascii_digit())
}

/// Prefixes that services give to their ids.
const PREFIXES: [&str; 15] = [
    "req", "msg", "toolu", "call", "resp", "chatcmpl", "run", "thread", "ses", "sess", "session", "trace", "span",
    "evt", "conv",
];

/// Fewest letters and digits of an id after such a prefix if it has digits and letters of both cases.
const MIXED_LEN_MIN: usize = 8;

/// Fewest letters and digits of any other id after such a prefix, and of one that the word before it calls an id.
const NAMED_LEN_MIN: usize = 12;

/// `req_011CSHoEeqs5C35K2UUqR7Fy`, `chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT`.
pub(super) fn is_named_id(word: &str) -> bool {
    let word = word.rsplit(['=', ':']).next().unwrap_or(word);
    let named = word.split_once(['_', '-']).filter(|(prefix, _)| PREFIXES.contains(prefix));
    named.is_some_and(|(_, id)| is_drawn(id, MIXED_LEN_MIN))
}

/// Letters and digits that form no word, such as `V1StGXR8_Z5jdHi6B-myT`.
pub(super) fn is_random(word: &str) -> bool {
    is_drawn(word.rsplit(['=', ':']).next().unwrap_or(word), NAMED_LEN_MIN)
}

/// Random: digits and letters of both cases, at least `mixed_len_min` of them, or about as many digits as chance gives.
fn is_drawn(id: &str, mixed_len_min: usize) -> bool {
    let count = |test: fn(&char) -> bool| id.chars().filter(test).count();
    let (digits, letters) = (count(char::is_ascii_digit), count(char::is_ascii_alphabetic));
    let is_mixed = count(char::is_ascii_uppercase) > 0 && count(char::is_ascii_lowercase) > 0;
    id.len() >= if is_mixed { mixed_len_min } else { NAMED_LEN_MIN }
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        && digits > 0
        && letters > 0
        && (is_mixed || digits * 6 >= id.len())
}
