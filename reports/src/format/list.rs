//! `forkcast.list/1` as an outline: the tables of a document, with any names and columns.

use forkcast_scenarios::format::outline::{Field, Object, Shape};

use crate::document::json::SCHEMA;

/// What is built in.
pub static LIST: Object = Object::new(
    "list",
    "What is built in, as tables: a list of rows by the name of each table.",
    &[Field::format(SCHEMA)],
)
.given(2, None)
.open(&Shape::List(&Shape::Object(&ROW)));

static ROW: Object = Object::new("row", "A row: values by the names of the columns; null where a cell is empty.", &[])
    .open(&Shape::AnyOf(&[Shape::Text, Shape::Number, Shape::Truth, Shape::Null]));
