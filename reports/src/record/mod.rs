//! A record is one list of fields: name, shape, unit, meaning, when it is null, how to get it. All outputs of a record
//! use this list: JSON, its schema, comma-separated values, tables for people.
//!
//! * [`number`]: numbers that keep all their digits.
//! * [`value`]: the value of a field, and its JSON.
//! * [`shape`]: the possible values of a field; `schema`: the same as a JSON Schema; `outline`: fields of formats that are
//!   read.
//! * [`table`]: records as rows of comma-separated values, and as cells for people.
//! * [`columns`]: many records by column, for pages.

pub mod columns;
pub mod number;
mod outline;
mod schema;
pub mod shape;
pub mod table;
pub mod value;

use std::cell::RefCell;
use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use schema::{of_outline, schema};
pub use shape::{Column, Description, Shape};
pub use value::Value;

use crate::document::json_text;

/// A record's fields, one after the other: shape, word, meaning, value, and then further properties.
///
/// `usd "cost_usd", "The bill." => |side| side.cost, null("if nothing has a price");`, and with a nested record:
/// `record: Usage, "usage", "Its tokens." => |side| side.usage.value();`
macro_rules! record {
    ($(#[$doc:meta])* $type:ty, $name:literal: $(
        $shape:ident $(: $of:ty,)? $($said:expr),* => |$it:pat_param| $value:expr $(, $more:ident($($given:expr),*))*;
    )*) => {
        $(#[$doc])*
        impl $crate::record::Record for $type {
            const NAME: &'static str = $name;

            fn columns() -> &'static [$crate::record::Column] {
                static COLUMNS: std::sync::OnceLock<Vec<$crate::record::Column>> = std::sync::OnceLock::new();
                COLUMNS.get_or_init(|| vec![$(
                    $crate::record::Column::$shape$(::<$of>)?($($said),*)$(.$more($($given),*))*
                ),*])
            }

            fn values(&self) -> Vec<$crate::record::Value> {
                vec![$({
                    let $it = self;
                    $crate::record::Value::from($value)
                }),*]
            }
        }
    };
}

/// Something that is written.
pub trait Record: Sized {
    /// Its name among the definitions of a schema.
    const NAME: &'static str;

    /// Its fields, in the order in which they are written.
    fn columns() -> &'static [Column];

    /// The values of these fields.
    fn values(&self) -> Vec<Value>;

    /// Its fields with their values.
    fn value(&self) -> Value {
        let fields = Self::columns().iter().zip(self.values());
        Value::Fields(fields.map(|(column, value)| (column.word, column.value(value))).collect())
    }
}

/// Records as a list.
pub fn list<R: Record>(records: impl IntoIterator<Item = R>) -> Value {
    Value::List(records.into_iter().map(|record| record.value()).collect())
}

/// Writes a record as JSON with line ends and indents.
///
/// # Errors
/// When the target cannot be written.
pub fn pretty(record: &impl Record, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &record.value())?;
    writeln!(target)
}

/// The same, with the values of its field `list` taken from an iterator while they are written.
///
/// # Errors
/// When the target cannot be written, or the first error of the iterator.
pub fn pretty_with<R: Record>(
    record: &R,
    list: &'static str,
    values: &mut dyn Iterator<Item = io::Result<Value>>,
    target: &mut dyn Write,
) -> io::Result<()> {
    let failure = RefCell::new(None);
    let mut values = values.map_while(|value| value.map_err(|error| failure.replace(Some(error))).ok());
    let written = json_text::pretty(target, &Listed { record, list, values: RefCell::new(&mut values) });
    match failure.take() {
        Some(failure) => Err(failure),
        None => written.and_then(|()| writeln!(target)),
    }
}

/// A record, one of whose fields is an iterator.
struct Listed<'a, R> {
    record: &'a R,
    list: &'static str,
    values: RefCell<&'a mut dyn Iterator<Item = Value>>,
}

impl<R: Record> Serialize for Listed<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (column, value) in R::columns().iter().zip(self.record.values()) {
            if column.word == self.list {
                map.serialize_entry(column.word, &Streamed(&self.values))?;
            } else {
                map.serialize_entry(column.word, &column.value(value))?;
            }
        }
        map.end()
    }
}

/// The iterator, as a list.
struct Streamed<'a, 'b>(&'a RefCell<&'b mut dyn Iterator<Item = Value>>);

impl Serialize for Streamed<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut **self.0.borrow_mut())
    }
}
