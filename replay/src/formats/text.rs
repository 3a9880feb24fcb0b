//! Bytes of a file with its lines, so that every message can name a place.

use std::ops::Range;

use serde_json::value::RawValue;

use super::json::{elements, skip_space, value_start, walk_value};
use crate::error::Fault;

/// Bytes and where their lines begin.
pub(crate) struct Text<'a> {
    /// The whole file, decompressed.
    pub bytes: &'a [u8],
    newlines: Vec<usize>,
}

impl<'a> Text<'a> {
    /// Finds the lines of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, newlines: memchr::memchr_iter(b'\n', bytes).collect() }
    }

    /// The line that holds `offset`, counted from one.
    pub fn line_of(&self, offset: usize) -> usize {
        self.newlines.partition_point(|&newline| newline < offset) + 1
    }

    /// The column of `offset` in its line, in bytes, counted from one.
    pub fn column_of(&self, offset: usize) -> usize {
        let before = self.newlines.partition_point(|&newline| newline < offset);
        let start = before.checked_sub(1).and_then(|i| self.newlines.get(i)).map_or(0, |newline| newline + 1);
        offset.saturating_sub(start) + 1
    }

    /// Where `part`, a slice of this text, begins.
    pub fn offset_of(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    /// Damage at `offset`.
    pub fn fault(&self, offset: usize, what: impl Into<String>) -> Fault {
        Fault::at(self.line_of(offset), self.column_of(offset), what)
    }

    /// What serde_json said about the slice that begins at `base`, placed in the file.
    pub fn json_fault(&self, base: usize, error: &serde_json::Error) -> Fault {
        let line = self.line_of(base) + error.line().saturating_sub(1);
        let column =
            if error.line() <= 1 { self.column_of(base) + error.column().saturating_sub(1) } else { error.column() };
        Fault::at(line, column, json_reason(error))
    }

    /// The elements of the list under the top-level `key` of a JSON document, and what is wrong with the rest.
    pub fn elements_under(&self, key: &str) -> (Vec<Range<usize>>, Option<Fault>) {
        self.elements_at(&[key])
    }

    /// The elements of the list that `path` leads to, key by key from the top, and what is wrong with the rest.
    pub fn elements_at(&self, path: &[&str]) -> (Vec<Range<usize>>, Option<Fault>) {
        let mut start = 0;
        for key in path {
            match self.bytes.get(start..).and_then(|value| value_start(value, key)) {
                Some(offset) => start += offset,
                None => {
                    let what = format!("found no key `{key}`, or damage before it");
                    return (Vec::new(), Some(Fault::in_line(1, what)));
                }
            }
        }
        if self.bytes.get(start) != Some(&b'[') {
            let found = glimpse(self.bytes.get(start..).unwrap_or_default());
            let key = path.join(".");
            return (Vec::new(), Some(self.fault(start, format!("found {found}, expected the list `{key}`"))));
        }
        self.list(start)
    }

    /// The records of a text that has one after the other, with or without lines between them, or all in one list; and
    /// what is wrong with the rest. After damage reading goes on at the next line that begins with `{`.
    pub fn records(&self) -> (Vec<Range<usize>>, Vec<Fault>) {
        let mut at = skip_space(self.bytes, 0);
        if self.bytes.get(at) == Some(&b'[') {
            let (ranges, fault) = self.list(at);
            return (ranges, fault.into_iter().collect());
        }
        let (mut ranges, mut faults) = (Vec::new(), Vec::new());
        while at < self.bytes.len() {
            at = match walk_value(self.bytes, at) {
                Ok(walked) => {
                    ranges.push(at..walked.end);
                    walked.end
                }
                Err(broken) => {
                    faults.push(self.fault(broken.at, broken.what));
                    let rest = self.bytes.get(at..).unwrap_or_default();
                    memchr::memmem::find(rest, b"\n{").map_or(self.bytes.len(), |i| at + i + 1)
                }
            };
            at = skip_space(self.bytes, at);
        }
        (ranges, faults)
    }

    /// The elements of the list at `start`, and what is wrong with the rest.
    fn list(&self, start: usize) -> (Vec<Range<usize>>, Option<Fault>) {
        let (mut ranges, mut fault) = (Vec::new(), None);
        for element in elements(self.bytes, start) {
            match element {
                Ok(range) => ranges.push(range),
                Err(broken) => fault = Some(self.fault(broken.at, broken.what)),
            }
        }
        let whole = serde_json::from_slice::<&RawValue>(self.bytes).err();
        (ranges, fault.or_else(|| whole.map(|error| self.json_fault(0, &error))))
    }

    /// Lines with their number and offset, without their line ends.
    pub fn lines(&self) -> impl Iterator<Item = (usize, usize, &'a [u8])> {
        let bytes = self.bytes;
        let starts = std::iter::once(0).chain(self.newlines.iter().map(|newline| newline + 1));
        let ends = self.newlines.iter().copied().chain(std::iter::once(bytes.len()));
        starts.zip(ends).enumerate().map(move |(i, (start, end))| {
            let line = bytes.get(start..end).unwrap_or_default();
            (i + 1, start, line.strip_suffix(b"\r").unwrap_or(line))
        })
    }
}

/// The message of serde_json without its place, which is relative to a slice and would mislead.
pub(crate) fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What stands at the head of `bytes`, for "found …": one character, since recordings hold other people's texts.
pub(crate) fn glimpse(bytes: &[u8]) -> String {
    match bytes.first() {
        None => "the end".to_owned(),
        Some(byte @ b'!'..=b'~') => format!("`{}`", char::from(*byte)),
        Some(byte) => format!("byte 0x{byte:02x}"),
    }
}

/// The first byte that is not UTF-8, if any.
pub(crate) fn not_utf8(bytes: &[u8]) -> Option<usize> {
    std::str::from_utf8(bytes).err().map(|error| error.valid_up_to())
}
