//! Splits the body of a request into its elements without building a tree.

use std::collections::BTreeSet;
use std::str;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::outside::complaint;

use super::json::{self, ScanError, Scanner};
use super::level::Level;
use super::memory::ElementMemory;

/// Why a body is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The bytes are not UTF-8.
    #[error("byte {offset}: found a byte that is not UTF-8, expected JSON text")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// The text is not JSON.
    #[error("byte {offset}: {found}")]
    NotJson {
        /// Offset in the body.
        offset: usize,
        /// The finding there.
        found: String,
    },
    /// A required key is missing.
    #[error("no `{key}`: expected a request body of the Messages API")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A value has the wrong shape for its place.
    #[error("{path}: found {found}, expected {expected}")]
    Shape {
        /// JSON path.
        path: String,
        /// The shape found.
        found: &'static str,
        /// The shape expected.
        expected: &'static str,
    },
}

/// An element of one of the three levels.
#[derive(Clone, Copy, Debug)]
pub struct RawElement<'a> {
    /// Its bytes.
    pub raw: &'a [u8],
    /// Its row in the memory that expected it.
    pub row: Option<u32>,
}

impl RawElement<'_> {
    /// Whether the bytes are equal. Both were cut with one memory, if any.
    pub fn repeats(&self, other: &Self) -> bool {
        (self.row.is_some() && self.row == other.row) || self.raw == other.raw
    }
}

/// A body split into raw slices.
#[derive(Debug, Default)]
pub struct Body<'a> {
    /// Elements of `tools`.
    pub tools: Vec<RawElement<'a>>,
    /// Elements of a `system` list.
    pub system: Vec<RawElement<'a>>,
    /// A `system` that is a plain string.
    pub system_string: Option<&'a [u8]>,
    /// Elements of `messages`.
    pub messages: Vec<RawElement<'a>>,
    /// All other members: key and raw value. Of duplicate keys the last one wins.
    pub fields: Vec<(String, &'a [u8])>,
    /// All keys in the order sent.
    pub keys: Vec<String>,
    /// Generation of the memory to which the rows belong.
    pub generation: u32,
}

impl<'a> Body<'a> {
    /// The elements of a level.
    pub fn elements(&self, level: Level) -> &[RawElement<'a>] {
        match level {
            Level::Tools => &self.tools,
            Level::System => &self.system,
            Level::Messages => &self.messages,
        }
    }
}

/// Splits `text` into its elements. Elements are checked by [`is_valid`] when they are read for the first time.
///
/// # Errors
/// When the text is no JSON object or one of the three levels has another shape.
pub fn cut(text: &[u8]) -> Result<Body<'_>, BodyError> {
    cut_expecting(text, &ElementMemory::default())
}

/// Splits `text` like [`cut`], faster if it repeats a remembered body.
///
/// # Errors
/// The same.
pub(super) fn cut_expecting<'a>(text: &'a [u8], memory: &ElementMemory) -> Result<Body<'a>, BodyError> {
    if let Err(error) = str::from_utf8(text) {
        return Err(BodyError::NotUtf8 { offset: error.valid_up_to() });
    }
    cut_again(text, memory)
}

/// The same for a text that is known to be UTF-8.
///
/// # Errors
/// The same.
pub(super) fn cut_again<'a>(text: &'a [u8], memory: &ElementMemory) -> Result<Body<'a>, BodyError> {
    cut_members(text, memory).map_err(|error| describe(text, error))
}

/// Either a scan error or a finished error message.
enum Stop {
    Scan(ScanError),
    Body(BodyError),
}

impl From<ScanError> for Stop {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

fn cut_members<'a>(text: &'a [u8], memory: &ElementMemory) -> Result<Body<'a>, Stop> {
    let mut body = Body { generation: memory.generation(), ..Body::default() };
    let mut seen_messages = false;
    let mut levels = BTreeSet::new();
    let mut repeated = false;
    let mut scanner = Scanner::new(text);
    scanner.expect(b'{', "an object")?;
    let mut first = true;
    while scanner.peek() != Some(b'}') {
        if !first {
            scanner.expect(b',', "a comma or a closing brace")?;
        }
        first = false;
        if scanner.peek() != Some(b'"') {
            return Err(ScanError { offset: scanner.offset(), expected: "a key" }.into());
        }
        let key = key(&mut scanner)?;
        scanner.expect(b':', "a colon")?;
        body.keys.push(key.clone());
        if ["tools", "system", "messages"].contains(&key.as_str()) {
            repeated |= !levels.insert(key.clone());
        }
        match key.as_str() {
            "messages" => {
                seen_messages = scanner.peek() != Some(b'n');
                body.messages = level(&mut scanner, Level::Messages, memory)?;
            }
            "tools" => body.tools = level(&mut scanner, Level::Tools, memory)?,
            "system" if scanner.peek() == Some(b'"') => {
                (body.system, body.system_string) = (Vec::new(), Some(scanner.value()?));
            }
            "system" => (body.system, body.system_string) = (level(&mut scanner, Level::System, memory)?, None),
            _ => field(&mut body.fields, key, scanner.value()?)?,
        }
    }
    scanner.expect(b'}', "a closing brace")?;
    if scanner.peek().is_some() {
        return Err(ScanError { offset: scanner.offset(), expected: "the end of the body" }.into());
    }
    // A level that a later duplicate key replaces is never read, so the text is checked as a whole.
    if repeated && !is_valid(text) {
        return Err(ScanError { offset: 0, expected: "JSON" }.into());
    }
    if !seen_messages {
        return Err(Stop::Body(BodyError::Missing { key: "messages" }));
    }
    Ok(body)
}

/// The key that begins here, escapes resolved.
fn key(scanner: &mut Scanner<'_>) -> Result<String, ScanError> {
    let offset = scanner.offset();
    let raw = scanner.value()?;
    let key = json::string(raw).filter(|_| is_valid(raw));
    key.ok_or(ScanError { offset, expected: "a key" })
}

fn field<'a>(fields: &mut Vec<(String, &'a [u8])>, key: String, value: &'a [u8]) -> Result<(), Stop> {
    if !is_valid(value) {
        let found = "text that is no JSON value";
        return Err(Stop::Body(BodyError::Shape { path: key, found, expected: "a JSON value" }));
    }
    fields.retain(|(known, _)| *known != key);
    fields.push((key, value));
    Ok(())
}

/// The elements of the array that begins here; `null` counts as an empty array.
fn level<'a>(scanner: &mut Scanner<'a>, level: Level, memory: &ElementMemory) -> Result<Vec<RawElement<'a>>, Stop> {
    let mut found = Vec::new();
    match scanner.peek() {
        Some(b'[') => scanner.expect(b'[', "an array")?,
        Some(b'n') if scanner.value()? == b"null" => return Ok(found),
        other => {
            let shape = BodyError::Shape { path: level.name().to_owned(), found: shape(other), expected: "an array" };
            return Err(Stop::Body(shape));
        }
    }
    if scanner.peek() == Some(b']') {
        scanner.expect(b']', "a closing bracket")?;
        return Ok(found);
    }
    let mut expected = memory.expected(level, scanner.rest());
    loop {
        scanner.peek();
        found.push(match expected.step(scanner.rest()) {
            Some(repeated) => RawElement { raw: scanner.take(repeated.len), row: Some(repeated.row) },
            None => RawElement { raw: scanner.value()?, row: None },
        });
        if scanner.peek() == Some(b']') {
            scanner.expect(b']', "a closing bracket")?;
            return Ok(found);
        }
        scanner.expect(b',', "a comma or a closing bracket")?;
    }
}

/// The kind of value that begins with `first`.
pub const fn shape(first: Option<u8>) -> &'static str {
    match first {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "a number",
        Some(_) => "text that is no JSON",
        None => "the end of the text",
    }
}

/// Whether `raw`, which is UTF-8, is a single valid JSON value.
pub fn is_valid(raw: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(raw).is_ok()
}

/// The error in the text: serde's message if it is not JSON, because it is better than the scanner's.
fn describe(text: &[u8], stop: Stop) -> BodyError {
    match (serde_json::from_slice::<&RawValue>(text), stop) {
        (Err(error), _) => BodyError::NotJson { offset: offset_of(text, &error), found: complaint::json(&error) },
        (Ok(_), Stop::Body(error)) => error,
        (Ok(_), Stop::Scan(scan)) => {
            BodyError::NotJson { offset: scan.offset, found: format!("expected {}", scan.expected) }
        }
    }
}

/// The byte offset of a serde error; serde counts lines and columns from one.
fn offset_of(text: &[u8], error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let mut line_start = 0;
    for _ in 1..error.line() {
        match memchr::memchr(b'\n', &text[line_start..]) {
            Some(step) => line_start += step + 1,
            None => break,
        }
    }
    // Column 0 is before the first byte of a line.
    (line_start + error.column().saturating_sub(1)).min(text.len())
}
