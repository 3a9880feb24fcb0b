//! The tables of a document as one JSON object: a list of rows for each table, by its name.

use std::io::{self, Write};

use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::json_text;
use super::{Cell, Column, Document, Part, Table};

/// Name and version.
pub const SCHEMA: &str = "forkcast.list/1";

/// Writes the tables of a document.
///
/// # Errors
/// When the target cannot be written.
pub fn write(document: &Document, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &Tables(document))?;
    writeln!(target)
}

struct Tables<'a>(&'a Document);

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        for part in &self.0.parts {
            if let Part::Table(table) = part {
                let rows: Vec<Row<'_>> = table.rows.iter().map(|cells| Row { table, cells }).collect();
                map.serialize_entry(table.word, &rows)?;
            }
        }
        map.end()
    }
}

struct Row<'a> {
    table: &'a Table,
    cells: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.cells.len()))?;
        for (Column { word, .. }, cell) in self.table.columns.iter().zip(self.cells) {
            map.serialize_entry(word, &Value(cell))?;
        }
        map.end()
    }
}

struct Value<'a>(&'a Cell);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = self.0.machine();
        match self.0 {
            Cell::Text(text) => serializer.serialize_str(text),
            _ if digits.is_empty() => serializer.serialize_none(),
            _ => RawValue::from_string(digits).map_err(S::Error::custom)?.serialize(serializer),
        }
    }
}
