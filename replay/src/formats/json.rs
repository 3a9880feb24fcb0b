//! A lexical walk over JSON that gives byte ranges.
//!
//! Serde reads a document as a whole or not at all. A recording that breaks off in the middle still holds everything
//! before the break, so the outer levels are walked here, element by element, and each element is then checked by
//! serde. The walk keeps no stack: nesting costs a counter.

use std::borrow::Cow;
use std::ops::Range;

use super::text::glimpse;

/// Deepest nesting that is passed on. Below serde_json's own limit of 128, which later readers of a body run into.
pub(crate) const DEPTH_LIMIT: usize = 120;

/// Where the text stopped being JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Offset of the first byte that does not fit.
    pub at: usize,
    /// What was found, what was expected.
    pub what: String,
}

/// One `"key": value` of an object.
pub(crate) struct Member<'a> {
    /// The key, escapes decoded.
    pub key: Cow<'a, str>,
    /// Where the value stands.
    pub value: Range<usize>,
    /// How deep brackets are nested in it.
    pub depth: usize,
}

/// A value that was walked over.
pub(crate) struct Walked {
    /// One past its last byte.
    pub end: usize,
    /// How deep brackets were nested in it.
    pub depth: usize,
}

/// The offset of the first byte from `at` on that is not white space.
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(rest.len())
}

/// Walks over the value that begins at `start`.
pub(crate) fn walk_value(bytes: &[u8], start: usize) -> Result<Walked, Broken> {
    match bytes.get(start) {
        Some(b'{' | b'[') => walk_brackets(bytes, start),
        Some(b'"') => Ok(Walked { end: string_end(bytes, start)?, depth: 0 }),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => Ok(Walked { end: word_end(bytes, start), depth: 0 }),
        _ => Err(expected(bytes, start, "a JSON value")),
    }
}

fn walk_brackets(bytes: &[u8], start: usize) -> Result<Walked, Broken> {
    let (mut at, mut open, mut depth) = (start, 0_usize, 0_usize);
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                at = string_end(bytes, at)?;
                continue;
            }
            Some(b'{' | b'[') => open += 1,
            Some(b'}' | b']') => open -= 1,
            Some(_) => {}
            None => return Err(Broken { at, what: format!("the text ends inside {open} open brackets") }),
        }
        depth = depth.max(open);
        at += 1;
        if open == 0 {
            return Ok(Walked { end: at, depth });
        }
    }
}

fn string_end(bytes: &[u8], quote: usize) -> Result<usize, Broken> {
    let mut at = quote + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(i) if rest[i] == b'"' => return Ok(at + i + 1),
            Some(i) => at += i + 2,
            None => return Err(Broken { at: bytes.len(), what: "the text ends inside a string".to_owned() }),
        }
    }
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    start + rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len())
}

fn expected(bytes: &[u8], at: usize, what: &str) -> Broken {
    Broken { at, what: format!("found {}, expected {what}", glimpse(bytes.get(at..).unwrap_or_default())) }
}

/// The parts of one object or list, in order, until its end or the first damage.
struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
    close: u8,
    /// Depth of the value walked last.
    depth: usize,
    first: bool,
    done: bool,
}

/// The members of the object that begins at `start`.
pub(crate) fn members(bytes: &[u8], start: usize) -> impl Iterator<Item = Result<Member<'_>, Broken>> {
    let mut parts = Parts::open(bytes, start, b'{');
    std::iter::from_fn(move || parts.next_with(Parts::member))
}

/// The elements of the list that begins at `start`.
pub(crate) fn elements(bytes: &[u8], start: usize) -> impl Iterator<Item = Result<Range<usize>, Broken>> {
    let mut parts = Parts::open(bytes, start, b'[');
    std::iter::from_fn(move || parts.next_with(Parts::value))
}

impl<'a> Parts<'a> {
    /// `open` is `{` or `[`; their closing bytes lie two further on in ASCII.
    fn open(bytes: &'a [u8], start: usize, open: u8) -> Self {
        let found = bytes.get(start) == Some(&open);
        Self { bytes, at: start + 1, close: open + 2, depth: 0, first: true, done: !found }
    }

    fn next_with<T>(&mut self, read: fn(&mut Self) -> Result<T, Broken>) -> Option<Result<T, Broken>> {
        if self.done {
            return None;
        }
        let item = self.step(read).transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }

    fn step<T>(&mut self, read: fn(&mut Self) -> Result<T, Broken>) -> Result<Option<T>, Broken> {
        self.at = skip_space(self.bytes, self.at);
        let here = self.bytes.get(self.at).copied();
        if here == Some(self.close) {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            if here != Some(b',') {
                let close = char::from(self.close);
                return Err(expected(self.bytes, self.at, &format!("`,` or `{close}`")));
            }
            self.at = skip_space(self.bytes, self.at + 1);
        }
        read(self).map(Some)
    }

    fn value(&mut self) -> Result<Range<usize>, Broken> {
        let start = self.at;
        let walked = walk_value(self.bytes, start)?;
        (self.at, self.depth) = (walked.end, walked.depth);
        Ok(start..self.at)
    }

    fn member(&mut self) -> Result<Member<'a>, Broken> {
        Ok(Member { key: self.key()?, value: self.value()?, depth: self.depth })
    }

    fn key(&mut self) -> Result<Cow<'a, str>, Broken> {
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            return Err(expected(self.bytes, start, "a key in quotes"));
        }
        let end = string_end(self.bytes, start)?;
        let key = text(&self.bytes[start..end]).ok_or_else(|| expected(self.bytes, start, "a key in UTF-8"))?;
        self.at = skip_space(self.bytes, end);
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(expected(self.bytes, self.at, "`:` after a key"));
        }
        self.at = skip_space(self.bytes, self.at + 1);
        Ok(key)
    }
}

/// A JSON string as text; `None` when it is none (also with a lone surrogate).
pub(crate) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(raw).ok().map(Cow::Owned)
}

/// Where the value of the top-level `key` begins, also when the text breaks off inside that value.
pub(crate) fn value_start(bytes: &[u8], key: &str) -> Option<usize> {
    let mut parts = Parts::open(bytes, skip_space(bytes, 0), b'{');
    loop {
        let name = parts.next_with(Parts::key)?.ok()?;
        if name == key {
            return Some(parts.at);
        }
        parts.value().ok()?;
    }
}

/// The top-level keys of the object at `start`, as far as they can be read, and what stopped the walk.
pub(crate) fn keys(bytes: &[u8], start: usize) -> (Vec<Cow<'_, str>>, Option<Broken>) {
    let mut parts = Parts::open(bytes, start, b'{');
    let mut keys = Vec::new();
    loop {
        match parts.next_with(Parts::key) {
            None => return (keys, None),
            Some(Err(broken)) => return (keys, Some(broken)),
            Some(Ok(key)) => keys.push(key),
        }
        if let Err(broken) = parts.value() {
            return (keys, Some(broken));
        }
    }
}

/// The value of `key` in the object that begins at the first byte of `object` (white space aside); the last one where
/// the key is repeated, as common JSON readers do.
pub(crate) fn member<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let start = skip_space(object, 0);
    let found = members(object, start).map_while(Result::ok).filter(|member| member.key == key).last()?;
    object.get(found.value)
}

/// The text of the string under `key`.
pub(crate) fn member_text<'a>(object: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    text(member(object, key)?)
}
