//! JSON by byte ranges: results of the scanner of `forkcast_sim::wire`, with places for messages.
//!
//! Serde reads a document completely or not at all. An incomplete recording still contains everything before its end,
//! so the outer levels are scanned here, element by element, and serde then checks each element. The scan keeps no
//! stack: nesting needs only a counter.

use std::borrow::Cow;
use std::ops::Range;

use forkcast_sim::wire::json::{self, CLOSING_BRACKET, CLOSING_QUOTE};
pub(crate) use forkcast_sim::wire::json::{ScanError, Scanner, members};

use super::text::glimpse;

/// Deepest nesting that is passed on. It is below serde_json's own limit of 128, which later readers of a body reach.
pub(crate) const DEPTH_LIMIT: usize = 120;

/// Where the text stops being JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Offset of the first unexpected byte.
    pub at: usize,
    /// The finding, the expectation.
    pub what: String,
}

impl Broken {
    /// The place where a scan of `text` stopped.
    pub fn of(text: &[u8], ScanError { offset, expected }: ScanError) -> Self {
        let rest = &text[offset..];
        match expected {
            CLOSING_QUOTE => Self { at: text.len(), what: "the text ends inside a string".to_owned() },
            CLOSING_BRACKET => {
                let what = format!("the text ends inside {} open brackets", open_brackets(rest));
                Self { at: text.len(), what }
            }
            _ => Self { at: offset, what: format!("found {}, expected {expected}", glimpse(rest)) },
        }
    }
}

/// The number of open brackets at the end of `text`, whose strings are complete.
fn open_brackets(text: &[u8]) -> usize {
    let mut scanner = Scanner::new(text);
    let mut open = 0_usize;
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' if scanner.string().is_ok() => continue,
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        scanner.take(1);
    }
    open
}

/// The offset of the first byte from `at` on that is not white space.
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    let mut scanner = Scanner::at(bytes, at.min(bytes.len()));
    scanner.peek();
    scanner.offset()
}

/// The end of the value that begins at `start`.
pub(crate) fn walk_value(bytes: &[u8], start: usize) -> Result<usize, Broken> {
    let mut scanner = Scanner::at(bytes, start.min(bytes.len()));
    match scanner.value() {
        Ok(_) => Ok(scanner.offset()),
        Err(error) => Err(Broken::of(bytes, error)),
    }
}

/// The ranges of the elements of the list at `start`, up to its end or the first damage; none for another value.
pub(crate) fn ranges(bytes: &[u8], start: usize) -> impl Iterator<Item = Result<Range<usize>, Broken>> {
    let mut scanner = Scanner::at(bytes, start.min(bytes.len()));
    let mut done = bytes.get(start) != Some(&b'[') || !scanner.enter(b'[').unwrap_or(false);
    let mut step = move || -> Result<Option<Range<usize>>, ScanError> {
        let found = scanner.element()?;
        scanner.peek();
        let begin = scanner.offset();
        let value = if found { Some(scanner.value()?) } else { None };
        Ok(value.map(|value| begin..begin + value.len()))
    };
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let item = step();
        done = !matches!(item, Ok(Some(_)));
        item.map_err(|error| Broken::of(bytes, error)).transpose()
    })
}

/// The elements of a list, up to its end or the first damage; none for another value.
pub(crate) fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    json::elements(list).map_while(Result::ok)
}

/// A JSON string as text; `None` if it is not one, or has a lone surrogate.
pub(crate) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(raw).ok().map(Cow::Owned)
}

/// The text between the quotes of a string, without escapes; bytes that are not UTF-8 are replaced.
pub(crate) fn unescaped(inner: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let quoted = format!("\"{}\"", String::from_utf8_lossy(inner));
    Cow::Owned(serde_json::from_str(&quoted).unwrap_or(quoted))
}

/// Where the value of the top-level `key` begins, even if the text ends inside that value.
pub(crate) fn value_start(bytes: &[u8], key: &str) -> Option<usize> {
    let mut scanner = Scanner::new(bytes);
    if !scanner.enter(b'{').ok()? {
        return None;
    }
    while let Some(name) = scanner.key().ok()? {
        if is_named(name, key) {
            scanner.peek();
            return Some(scanner.offset());
        }
        scanner.value().ok()?;
    }
    None
}

/// The top-level keys of an object, as far as they can be read.
pub(crate) struct Keys<'a> {
    pub keys: Vec<Cow<'a, str>>,
    /// Where the object ends, or what stopped the scan.
    pub end: Result<usize, Broken>,
}

/// The top-level keys of the object at `start`.
pub(crate) fn keys(bytes: &[u8], start: usize) -> Keys<'_> {
    let mut keys = Vec::new();
    let mut scanner = Scanner::at(bytes, start.min(bytes.len()));
    let mut walk = || -> Result<usize, ScanError> {
        if scanner.peek() == Some(b'{') && scanner.enter(b'{')? {
            while let Some(key) = scanner.key()? {
                keys.push(unescaped(key));
                scanner.value()?;
            }
        }
        Ok(scanner.offset())
    };
    let end = walk().map_err(|error| Broken::of(bytes, error));
    Keys { keys, end }
}

/// The value of `key` in an object; the last one if the key is repeated, as in common JSON readers.
pub(crate) fn member<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let own = |(name, _): &(&[u8], &[u8])| is_named(&name[1..name.len() - 1], key);
    members(object).map_while(Result::ok).filter(own).last().map(|(_, value)| value)
}

/// Whether a key, given as between quotes, is this one.
fn is_named(inner: &[u8], key: &str) -> bool {
    inner == key.as_bytes() || inner.contains(&b'\\') && unescaped(inner) == key
}

/// The value of `key` in an object, unless it is null.
pub(crate) fn present<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    member(object, key).filter(|value| !json::is_null(value))
}

/// The text of the string under `key`.
pub(crate) fn member_text<'a>(object: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    text(member(object, key)?)
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_are_undone_and_broken_bytes_are_replaced() {
        assert_eq!(unescaped(b"D:\\\\work"), "D:\\work");
        assert_eq!(unescaped(b"caf\xff"), "caf\u{fffd}");
    }
}
