//! Slices of JSON: members and elements without a tree, and one normal spelling.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

pub use super::scanner::{CLOSING_BRACKET, CLOSING_QUOTE, ScanError, Scanner};

/// A member of an object: raw key (with its quotes) and raw value.
pub type Member<'a> = (&'a [u8], &'a [u8]);

/// The members of the object `raw`, up to the first error.
pub fn members(raw: &[u8]) -> impl Iterator<Item = Result<Member<'_>, ScanError>> {
    items(raw, b'{', "an object", |scanner| {
        let Some(key) = scanner.quoted_key()? else { return Ok(None) };
        Ok(Some((key, scanner.value()?)))
    })
}

/// The raw value of the last member of `object` with this key, which has its quotes.
pub fn member<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    members(object).flatten().filter(|(name, _)| *name == key).map(|(_, value)| value).last()
}

/// The raw elements of the array `raw`, up to the first error.
pub fn elements(raw: &[u8]) -> impl Iterator<Item = Result<&[u8], ScanError>> {
    items(raw, b'[', "an array", |scanner| if scanner.element()? { scanner.value().map(Some) } else { Ok(None) })
}

/// What `step` finds after the bracket `open`, one after the other.
fn items<'a, T>(
    raw: &'a [u8],
    open: u8,
    expected: &'static str,
    step: impl Fn(&mut Scanner<'a>) -> Result<Option<T>, ScanError>,
) -> impl Iterator<Item = Result<T, ScanError>> {
    let mut scanner = Scanner::new(raw);
    let (mut is_open, mut is_done) = (false, false);
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let opened = if std::mem::replace(&mut is_open, true) { Ok(()) } else { scanner.expect(open, expected) };
        let item = opened.and_then(|()| step(&mut scanner)).transpose();
        is_done = !matches!(item, Some(Ok(_)));
        item
    })
}

/// Whether the raw value is JSON `null`.
pub fn is_null(raw: &[u8]) -> bool {
    raw == b"null"
}

/// The text of a raw JSON string, escapes resolved; `None` if it is not a string. Lone surrogates become U+FFFD: use
/// this for names and ids only, identity bytes are made by [`normalise`].
pub fn string(raw: &[u8]) -> Option<String> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut spelled = Vec::with_capacity(inner.len());
    for piece in Pieces::new(inner) {
        match piece {
            Piece::Plain(bytes) => spelled.extend_from_slice(bytes),
            Piece::Char(c) => spelled.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Surrogate(_) => spelled.extend_from_slice("\u{fffd}".as_bytes()),
        }
    }
    Some(String::from_utf8_lossy(&spelled).into_owned())
}

enum Piece<'a> {
    Plain(&'a [u8]),
    Char(char),
    Surrogate(u16),
}

/// The pieces of a string's content, escapes resolved one by one.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Pieces<'a> {
    const fn new(inner: &'a [u8]) -> Self {
        Self { rest: inner }
    }

    fn escape(&mut self) -> Piece<'a> {
        let kind = self.rest.get(1).copied().unwrap_or(b'\\');
        if kind == b'u' {
            return self.unicode_escape();
        }
        self.rest = self.rest.get(2..).unwrap_or_default();
        Piece::Char(match kind {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            other => char::from(other),
        })
    }

    fn unicode_escape(&mut self) -> Piece<'a> {
        let Some(unit) = code_unit(self.rest) else {
            self.rest = self.rest.get(2..).unwrap_or_default();
            return Piece::Char('u');
        };
        self.rest = &self.rest[6..];
        if let Some(c) = char::from_u32(u32::from(unit)) {
            return Piece::Char(c);
        }
        let low = code_unit(self.rest).filter(|low| (0xdc00..0xe000).contains(low));
        if let (true, Some(low)) = (unit < 0xdc00, low) {
            self.rest = &self.rest[6..];
            let point = 0x10000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
            return Piece::Char(char::from_u32(point).unwrap_or('\u{fffd}'));
        }
        Piece::Surrogate(unit)
    }
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if *self.rest.first()? == b'\\' {
            return Some(self.escape());
        }
        let end = memchr::memchr(b'\\', self.rest).unwrap_or(self.rest.len());
        let (plain, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Piece::Plain(plain))
    }
}

/// Appends the whole value `raw` like [`normalise`], faster for a string.
pub fn normalise_value(raw: &[u8], out: &mut Vec<u8>) {
    match raw {
        [b'"', .., b'"'] => normalise_string(raw, out),
        _ => normalise(raw, out),
    }
}

/// Appends `raw` in the normal spelling: no white space between tokens, and each string with the fewest escapes. Key
/// order, spellings of numbers and duplicate keys stay, because they reach the model's tokenizer.
pub fn normalise(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some((byte, behind)) = rest.split_first() {
        if *byte == b'"' {
            let mut scanner = Scanner::new(rest);
            // A caller may pass truncated text; the rest of a cut string then stays as it is.
            let Ok(string) = scanner.value() else {
                out.extend_from_slice(rest);
                return;
            };
            normalise_string(string, out);
            rest = scanner.rest();
            continue;
        }
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            out.push(*byte);
        }
        rest = behind;
    }
}

fn normalise_string(raw: &[u8], out: &mut Vec<u8>) {
    if is_normal(raw) {
        out.extend_from_slice(raw);
        return;
    }
    out.push(b'"');
    for piece in Pieces::new(&raw[1..raw.len() - 1]) {
        match piece {
            Piece::Plain(bytes) => out.extend_from_slice(bytes),
            Piece::Char(c) => push_char(c, out),
            Piece::Surrogate(unit) => out.extend_from_slice(format!("\\u{unit:04x}").as_bytes()),
        }
    }
    out.push(b'"');
}

/// Whether a string only has the escapes of its normal spelling, and no letter is written as a number.
fn is_normal(raw: &[u8]) -> bool {
    let mut rest = raw;
    while let Some(step) = memchr::memchr(b'\\', rest) {
        if !matches!(rest.get(step + 1), Some(b'n' | b'r' | b't' | b'"' | b'\\')) {
            return false;
        }
        rest = &rest[step + 2..];
    }
    true
}

fn push_char(c: char, out: &mut Vec<u8>) {
    match c {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        c if c < ' ' => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
        c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Beginning of an escaped letter.
static ESCAPED_LETTER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\\u00"));

/// The raw text with escaped letters resolved. Keys and words with a meaning need no escapes, so most texts stay.
pub fn plain(raw: &[u8]) -> Cow<'_, [u8]> {
    if ESCAPED_LETTER.find(raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut spelled = Vec::with_capacity(raw.len());
    normalise(raw, &mut spelled);
    Cow::Owned(spelled)
}

/// Appends text as a JSON string in the normal spelling.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte < b' ' || matches!(byte, b'"' | b'\\') {
            out.extend_from_slice(&bytes[from..at]);
            push_char(char::from(*byte), out);
            from = at + 1;
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}
