//! The possible values of a field.

use super::{Record, Value};

/// The possible values of a field, besides null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// True or false.
    Truth,
    /// Any text.
    Text,
    /// A text that matches this regular expression.
    Pattern(&'static str),
    /// Only this text.
    Constant(&'static str),
    /// One of these words; with a name if several fields have the same words.
    Words {
        /// Its name among the definitions.
        name: Option<&'static str>,
        /// The words.
        words: Vec<&'static str>,
    },
    /// A whole number.
    Count {
        /// Its minimum.
        least: u64,
    },
    /// A number.
    Number,
    /// A number that is not negative.
    Positive,
    /// A number from zero to one.
    Share,
    /// Any number of these.
    List(Box<Self>),
    /// One of these, or null, in a list or a map.
    Maybe(Box<Self>),
    /// Exactly two of these.
    Pair(Box<Self>),
    /// A map of these, with names that are not known in advance.
    Map(Box<Self>),
    /// A record.
    Record(Description),
}

impl Shape {
    /// The shape of a record.
    pub fn record<R: Record>() -> Self {
        Self::Record(Description {
            name: R::NAME,
            columns: R::fields().into_iter().map(|field| field.column).collect(),
        })
    }

    /// One of these words.
    pub fn words(words: impl IntoIterator<Item = &'static str>) -> Self {
        Self::Words { name: None, words: words.into_iter().collect() }
    }

    /// One of these words, under one name for all its uses.
    pub fn named(name: &'static str, words: impl IntoIterator<Item = &'static str>) -> Self {
        Self::Words { name: Some(name), words: words.into_iter().collect() }
    }

    /// Any number of these.
    pub fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }
}

/// A record and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name among the definitions.
    pub name: &'static str,
    /// Its fields.
    pub columns: Vec<Column>,
}

/// The description of a field.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name for machines.
    pub word: &'static str,
    /// Its possible values.
    pub shape: fn() -> Shape,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
    /// When it is null, if it can be.
    pub null: Option<&'static str>,
    /// When JSON lacks it, if it can.
    pub absent: Option<&'static str>,
    /// It follows from other fields, so JSON leaves it out.
    pub is_derived: bool,
    /// Its fields are among those around it.
    pub is_flat: bool,
    /// Comma-separated values leave it out.
    pub has_no_cell: bool,
    /// Comma-separated values name its fields without it.
    pub is_bare: bool,
    /// Its heading for people, if it is shown to them.
    pub heading: Option<&'static str>,
    /// People can do without it if there is not enough room.
    pub is_optional: bool,
    /// It is shown to people if it varies.
    pub must_vary: bool,
    /// It is shown to people if it is not zero everywhere.
    pub must_count: bool,
    /// The word for people if it is null.
    pub missing: &'static str,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        let said = |column: &Self| (column.word, (column.shape)(), column.unit, column.null, column.absent);
        said(self) == said(other)
    }
}

impl Eq for Column {}

impl Column {
    /// A null in place of each of its fields.
    pub(super) fn nulls(&self) -> Value {
        match (self.shape)() {
            Shape::Record(record) => {
                Value::Fields(record.columns.iter().map(|column| (column.word, column.nulls())).collect())
            }
            _ => Value::Null,
        }
    }

    pub(super) const fn new(word: &'static str, shape: fn() -> Shape, meaning: &'static str) -> Self {
        Self {
            word,
            shape,
            meaning,
            unit: None,
            null: None,
            absent: None,
            is_derived: false,
            is_flat: false,
            has_no_cell: false,
            is_bare: false,
            heading: None,
            is_optional: false,
            must_vary: false,
            must_count: false,
            missing: "",
        }
    }
}
