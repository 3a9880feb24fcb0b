//! Bytes of a file with its lines, so that every message can give a place.

use std::cell::OnceCell;
use std::ops::Range;

pub(crate) use forkcast_sim::outside::complaint::json as json_reason;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::json::{ranges, skip_space, value_start, walk_value};
use crate::error::Fault;

/// Bytes per entry in the table of line counts. The table takes 0.2 % of the text, however many lines it has; a table
/// of all line ends took eight bytes for each.
const STRIDE: usize = 4096;

/// Bytes with their lines.
pub(crate) struct Text<'a> {
    /// The whole file, decompressed.
    pub bytes: &'a [u8],
    /// The number of line ends before each stride, once somebody asks for a line.
    newlines: OnceCell<Vec<usize>>,
}

impl<'a> Text<'a> {
    /// The text of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, newlines: OnceCell::new() }
    }

    fn newlines(&self) -> &[usize] {
        self.newlines.get_or_init(|| {
            let mut before = 0;
            let count_before = |stride: &[u8]| {
                let count = before;
                before += count_newlines(stride);
                count
            };
            self.bytes.chunks(STRIDE).map(count_before).collect()
        })
    }

    /// The line of `offset`, counted from one.
    pub fn line_of(&self, offset: usize) -> usize {
        let (stride, before) = self.stride_of(offset);
        before + count_newlines(&self.bytes[stride..offset.min(self.bytes.len())]) + 1
    }

    /// The column of `offset` in its line, in bytes, counted from one.
    pub fn column_of(&self, offset: usize) -> usize {
        offset.saturating_sub(self.line_start(offset)) + 1
    }

    /// Where the line of `offset` begins.
    fn line_start(&self, offset: usize) -> usize {
        let newline_in = |range: Range<usize>| {
            let start = range.start;
            memchr::memrchr(b'\n', &self.bytes[range]).map(|at| start + at)
        };
        let (stride, before) = self.stride_of(offset);
        let newline = newline_in(stride..offset.min(self.bytes.len())).or_else(|| {
            // It is in the last stride that has one fewer before it.
            let last = self.newlines().partition_point(|count| *count < before).checked_sub(1)?;
            newline_in(last * STRIDE..(last + 1) * STRIDE)
        });
        newline.map_or(0, |newline| newline + 1)
    }

    /// The beginning of the stride of `offset`, and the line ends before it.
    fn stride_of(&self, offset: usize) -> (usize, usize) {
        // Most documents are one value, whose beginning is in the first stride.
        if offset < STRIDE {
            return (0, 0);
        }
        let stride = (offset / STRIDE).min(self.newlines().len().saturating_sub(1));
        (stride * STRIDE, self.newlines().get(stride).copied().unwrap_or(0))
    }

    /// Where `part`, a slice of this text, begins.
    pub fn offset_of(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    /// Damage at `offset`.
    pub fn fault(&self, offset: usize, what: impl Into<String>) -> Fault {
        Fault::at(self.line_of(offset), self.column_of(offset), what)
    }

    /// An error of serde_json about the slice that begins at `base`, placed in the file.
    pub fn json_fault(&self, base: usize, error: &serde_json::Error) -> Fault {
        let line = self.line_of(base) + error.line().saturating_sub(1);
        let column =
            if error.line() <= 1 { self.column_of(base) + error.column().saturating_sub(1) } else { error.column() };
        Fault::at(line, column, json_reason(error))
    }

    /// The same for a record that may not be UTF-8.
    pub fn record_fault(&self, base: usize, record: &[u8], error: &serde_json::Error) -> Fault {
        match std::str::from_utf8(record) {
            Ok(_) => self.json_fault(base, error),
            Err(other) => self.fault(base + other.valid_up_to(), "found bytes that are not UTF-8"),
        }
    }

    /// The elements of the list under the top-level `key` of a JSON document, and the fault of the rest.
    pub fn elements_under(&self, key: &str) -> (Vec<Range<usize>>, Option<Fault>) {
        self.elements_at(&[key])
    }

    /// The elements of the list at `path`, key by key from the top, and the fault of the rest.
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
            let found = glimpse(&self.bytes[start..]);
            let key = path.join(".");
            return (Vec::new(), Some(self.fault(start, format!("found {found}, expected the list `{key}`"))));
        }
        self.list(start)
    }

    /// The records of a text, in sequence with or without lines between them, or all in one list. Damage affects only
    /// its record: the next one begins on the next line that begins with `{`.
    pub fn records(&self) -> Box<dyn Iterator<Item = Result<Range<usize>, Damaged>> + '_> {
        if !is_list(self.bytes) {
            return Box::new(Records { text: self, at: 0, next: 0, own_end: 0, crossings: CROSSINGS_MAX });
        }
        let (ranges, fault) = self.list(skip_space(self.bytes, 0));
        let end = ranges.last().map_or(0, |range| range.end);
        let damaged = fault.map(|fault| Err(Damaged { range: end..self.bytes.len(), fault }));
        Box::new(ranges.into_iter().map(Ok).chain(damaged))
    }

    /// The elements of the list at `start`, and the fault of the rest.
    pub fn list(&self, start: usize) -> (Vec<Range<usize>>, Option<Fault>) {
        let (mut found, mut fault) = (Vec::new(), None);
        for element in ranges(self.bytes, start) {
            match element {
                Ok(range) => found.push(range),
                Err(broken) => fault = Some(self.fault(broken.at, broken.what)),
            }
        }
        let whole = serde_json::from_slice::<&RawValue>(self.bytes).err();
        (found, fault.or_else(|| whole.map(|error| self.json_fault(0, &error))))
    }

    /// Lines with their number and offset, without their line ends.
    pub fn lines(&self) -> impl Iterator<Item = (usize, usize, &'a [u8])> {
        let bytes = self.bytes;
        let mut next = Some(0);
        let lines = std::iter::from_fn(move || {
            let start = next?;
            let rest = bytes.get(start..)?;
            let end = memchr::memchr(b'\n', rest).map(|length| start + length);
            next = end.map(|end| end + 1);
            Some((start, bytes.get(start..end.unwrap_or(bytes.len()))?))
        });
        (1..).zip(lines).map(|(number, (start, line))| (number, start, line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

fn count_newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// An unreadable record.
pub(crate) struct Damaged {
    /// Its range: up to the next record, or to the end.
    pub range: Range<usize>,
    /// The error in it.
    pub fault: Fault,
}

/// The maximum number of damaged records for which the scan goes beyond the next line that begins with `{`: each time
/// the rest of the text may be scanned.
const CROSSINGS_MAX: usize = 16;

/// See [`Text::records`].
struct Records<'t> {
    text: &'t Text<'t>,
    at: usize,
    /// Where the next line that begins with `{` begins, and where the text before it ends.
    next: usize,
    own_end: usize,
    crossings: usize,
}

impl Iterator for Records<'_> {
    type Item = Result<Range<usize>, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.bytes;
        let start = skip_space(bytes, self.at);
        if start == bytes.len() {
            return None;
        }
        if self.next <= start {
            // Searched only once, however many records come before it.
            let rest = &bytes[start..];
            self.next = memchr::memmem::find(rest, b"\n{").map_or(bytes.len(), |newline| start + newline + 1);
            self.own_end = bytes[..self.next].trim_ascii_end().len();
        }
        let next = self.next;
        Some(match self.record(start) {
            Ok(end) => {
                self.at = end;
                Ok(start..end)
            }
            Err(fault) => {
                self.at = next;
                Err(Damaged { range: start..next, fault })
            }
        })
    }
}

impl Records<'_> {
    /// The end of the record at `start`.
    fn record(&mut self, start: usize) -> Result<usize, Fault> {
        let bytes = self.text.bytes;
        let own = &bytes[..self.own_end];
        if let Some(what) = no_object(own.get(start..).unwrap_or_default()) {
            return Err(self.text.fault(start, what));
        }
        let broken = match walk_value(own, start) {
            Ok(end) => return Ok(end),
            Err(broken) => broken,
        };
        if self.next < bytes.len() && self.crossings > 0 {
            // Records over several lines may have lines with this beginning.
            let whole = walk_value(bytes, start).ok();
            let is_json = |end: &usize| serde_json::from_slice::<IgnoredAny>(&bytes[start..*end]).is_ok();
            match whole.filter(is_json) {
                Some(end) => return Ok(end),
                None => self.crossings -= 1,
            }
        }
        Err(self.text.fault(broken.at, broken.what))
    }
}

/// Whether the text is one JSON list, complete or damaged. Lines whose first one is damaged are not a list, whatever it
/// begins with.
pub(crate) fn is_list(bytes: &[u8]) -> bool {
    let start = skip_space(bytes, 0);
    if bytes.get(start) != Some(&b'[') {
        return false;
    }
    let is_whole = walk_value(bytes, start).is_ok_and(|end| skip_space(bytes, end) == bytes.len());
    is_whole || !has_whole_line(bytes)
}

/// Whether a line that begins with `{` is a record by itself.
pub(crate) fn has_whole_line(bytes: &[u8]) -> bool {
    let mut starts = std::iter::once(0).chain(memchr::memmem::find_iter(bytes, b"\n{").map(|newline| newline + 1));
    starts.any(|start| is_whole_line(bytes, start))
}

/// Whether the line at `start` is one object and nothing else.
pub(crate) fn is_whole_line(bytes: &[u8], start: usize) -> bool {
    let line = line_at(bytes, start);
    line.starts_with(b"{") && walk_value(line, 0).is_ok_and(|end| skip_space(line, end) == line.len())
}

/// The same for an object that ends at `end`.
pub(crate) fn fills_line(bytes: &[u8], start: usize, end: usize) -> bool {
    let line = line_at(bytes, start);
    end - start <= line.len() && skip_space(line, end - start) == line.len()
}

/// The text from `start` to the end of its line.
fn line_at(bytes: &[u8], start: usize) -> &[u8] {
    let line = &bytes[start..];
    &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
}

/// Why `bytes` are not a record: records are objects, but serde also accepts lists for them. `None` if they begin as an
/// object.
pub(crate) fn no_object(bytes: &[u8]) -> Option<String> {
    let head = bytes.trim_ascii_start();
    (!head.starts_with(b"{")).then(|| format!("found {}, expected a record", glimpse(head)))
}

/// The beginning of `bytes`, for "found …": one character, because recordings contain other people's texts.
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{STRIDE, Text};

    proptest! {
        #[test]
        fn places_are_equal_to_a_count_from_the_beginning(
            lengths in vec(prop_oneof![0..3_usize, 0..200_usize, STRIDE - 2..3 * STRIDE], 1..20),
            offsets in vec(any::<prop::sample::Index>(), 20),
        ) {
            let lines: Vec<Vec<u8>> = lengths.iter().map(|length| vec![b'x'; *length]).collect();
            let bytes = lines.join(&b'\n');
            let text = Text::new(&bytes);
            for offset in offsets.iter().map(|index| index.index(bytes.len() + 1)) {
                let before = &bytes[..offset];
                let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
                prop_assert_eq!(text.line_of(offset), 1 + before.iter().filter(|byte| **byte == b'\n').count());
                prop_assert_eq!(text.column_of(offset), offset - start + 1);
            }
            let found: Vec<(usize, &[u8])> = text.lines().map(|(number, _, line)| (number, line)).collect();
            let expected: Vec<(usize, &[u8])> = (1..).zip(lines.iter().map(|line| &line[..])).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_table_of_places_is_small() {
        let bytes = vec![b'\n'; 100 * STRIDE];
        let text = Text::new(&bytes);
        assert_eq!((text.line_of(bytes.len()), text.column_of(bytes.len())), (bytes.len() + 1, 1));
        assert!(text.newlines.get().unwrap().capacity() * size_of::<usize>() < bytes.len() / 100);
    }
}
