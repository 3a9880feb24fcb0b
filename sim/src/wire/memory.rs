//! What was read before is not read again: elements by their raw bytes.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::level::Level;
use super::part::Element;

/// Raw bytes kept before the memory starts afresh. Starting afresh costs reading each live element once more.
const RAW_BYTES_MAX: usize = 64 << 20;

/// Elements that were read, found again by their raw bytes.
#[derive(Clone, Debug, Default)]
pub struct ElementMemory {
    ids: HashTable<u32>,
    rows: Vec<Row>,
    raw: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Row {
    start: usize,
    len: usize,
    hash: u64,
    element: Element,
}

impl ElementMemory {
    /// The element that `raw` was read as at `level`.
    pub fn get(&self, level: Level, raw: &[u8]) -> Option<&Element> {
        let id = self.ids.find(hash(level, raw), |id| {
            let row = &self.rows[*id as usize];
            row.hash == hash(level, raw) && self.raw[row.start..row.start + row.len] == *raw
        })?;
        Some(&self.rows[*id as usize].element)
    }

    /// Keeps what `raw` was read as.
    pub fn put(&mut self, level: Level, raw: &[u8], element: Element) {
        if self.raw.len() + raw.len() > RAW_BYTES_MAX {
            *self = Self::default();
        }
        let Ok(id) = u32::try_from(self.rows.len()) else { return };
        let hash = hash(level, raw);
        self.rows.push(Row { start: self.raw.len(), len: raw.len(), hash, element });
        self.raw.extend_from_slice(raw);
        let rows = &self.rows;
        self.ids.insert_unique(hash, id, |id| rows[*id as usize].hash);
    }
}

/// Hash of the raw bytes, apart for each level. Bytes decide; the hash only finds.
fn hash(level: Level, raw: &[u8]) -> u64 {
    xxh3_64(raw).wrapping_add(level as u64)
}
