//! Remembers parsed input, so that nothing is parsed twice: elements by their raw bytes, and the latest bodies by their
//! elements.
//!
//! A request mostly repeats the previous one. If the bytes at a position equal the element that was there before, the
//! element is neither scanned nor looked up: one comparison confirms it.

use std::collections::VecDeque;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::level::Level;
use super::number::number;
use super::part::Element;

/// Most raw bytes kept before the memory is cleared. Clearing costs reading each live element once more.
const RAW_BYTES_MAX: usize = 64 << 20;

/// Elements that were read, by their raw bytes.
#[derive(Clone, Debug, Default)]
pub struct ElementMemory {
    ids: HashTable<u32>,
    rows: Vec<StoredElement>,
    raw: Vec<u8>,
    layouts: VecDeque<Layout>,
    generation: u32,
    is_off: bool,
}

/// The elements of a body by level, as rows of the memory.
pub type Layout = [Vec<u32>; 3];

/// Bodies with a remembered order of elements: enough for a few agents that take turns.
const LAYOUTS_MAX: usize = 8;

#[derive(Clone, Debug)]
struct StoredElement {
    start: usize,
    len: usize,
    hash: u64,
    element: Element,
}

impl ElementMemory {
    /// A memory that keeps nothing.
    pub fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// The element in a row of this generation.
    pub fn at(&self, row: u32) -> &Element {
        &self.rows[row as usize].element
    }

    /// The row of the element read from `raw` at `level`.
    pub fn row(&self, level: Level, raw: &[u8]) -> Option<u32> {
        if self.is_off {
            return None;
        }
        let hash = hash(level, raw);
        self.ids.find(hash, |id| self.rows[*id as usize].hash == hash && self.raw(*id) == raw).copied()
    }

    fn raw(&self, id: u32) -> &[u8] {
        let row = &self.rows[id as usize];
        &self.raw[row.start..row.start + row.len]
    }

    /// Stores the value parsed from `raw`; returns its row. Clearing the memory invalidates earlier rows, and
    /// [`Self::remember`] takes care of that.
    pub fn put(&mut self, level: Level, raw: &[u8], element: Element) -> u32 {
        if self.is_off {
            return 0;
        }
        if self.raw.len() + raw.len() > RAW_BYTES_MAX {
            *self = Self { generation: self.generation + 1, ..Self::default() };
        }
        let id = number(self.rows.len());
        let hash = hash(level, raw);
        self.rows.push(StoredElement { start: self.raw.len(), len: raw.len(), hash, element });
        self.raw.extend_from_slice(raw);
        let rows = &self.rows;
        self.ids.insert_unique(hash, id, |id| rows[*id as usize].hash);
        id
    }

    /// How often the memory was cleared.
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// Stores the order of a body's elements, with rows of this generation.
    pub fn remember(&mut self, layout: Layout, generation: u32) {
        if self.is_off || generation != self.generation {
            return;
        }
        if self.layouts.len() == LAYOUTS_MAX {
            self.layouts.pop_back();
        }
        self.layouts.push_front(layout);
    }

    /// The elements to expect at `level` if `text` begins with their first: those of the longest such body.
    pub fn expected(&self, level: Level, text: &[u8]) -> Expectation<'_> {
        let rows = self.layouts.iter().map(|layout| layout[level as usize].as_slice());
        let fitting = rows.filter(|rows| rows.first().is_some_and(|first| text.starts_with(self.raw(*first))));
        let rows = fitting.max_by_key(|rows| rows.len()).unwrap_or_default();
        Expectation { memory: self, rows }
    }
}

/// An element that a body repeats as expected.
#[derive(Clone, Copy, Debug)]
pub struct Repeated {
    /// Its bytes.
    pub len: usize,
    /// Its row, in this generation.
    pub row: u32,
}

/// Elements that a body is expected to repeat, in order.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    memory: &'a ElementMemory,
    rows: &'a [u32],
}

impl Expectation<'_> {
    /// The next element if `text` begins with it and it ends there; advances in any case.
    pub fn step(&mut self, text: &[u8]) -> Option<Repeated> {
        let (next, rest) = self.rows.split_first()?;
        self.rows = rest;
        let raw = self.memory.raw(*next);
        let ends = matches!(text.get(raw.len()), Some(b',' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
        (ends && text.starts_with(raw)).then_some(Repeated { len: raw.len(), row: *next })
    }
}

/// Hash of the raw bytes, different for each level. It only finds candidates; the bytes decide.
fn hash(level: Level, raw: &[u8]) -> u64 {
    xxh3_64(raw).wrapping_add(level as u64)
}
