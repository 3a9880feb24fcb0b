//! The possible values of a field.

use forkcast_scenarios::format::outline::Object;

use super::{Record, Value};

/// The possible values of a field, besides null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// True or false.
    Truth,
    /// Any text.
    Text,
    /// A text that is not empty.
    Name,
    /// A text that matches this regular expression.
    Pattern(&'static str),
    /// Only this text.
    Constant(&'static str),
    /// Only `true`.
    Yes,
    /// Only null.
    Null,
    /// Anything.
    Anything,
    /// Nothing.
    Never,
    /// One of these words; with a name if several fields have the same words.
    Words {
        /// Its name among the definitions.
        name: Option<&'static str>,
        /// The words.
        words: Vec<&'static str>,
        /// The command that explains each of them.
        by: Option<&'static str>,
    },
    /// A whole number.
    Count {
        /// Its minimum.
        least: u64,
    },
    /// A whole number in these bounds.
    Between {
        /// Its minimum.
        least: u64,
        /// Its maximum.
        most: u64,
    },
    /// A number.
    Number,
    /// A number that is not negative.
    Positive,
    /// A number from zero to one.
    Share,
    /// Any number of these.
    List(Box<Self>),
    /// At least one of these, all of them different.
    Different(Box<Self>),
    /// One of these, or null, in a list or a map.
    Maybe(Box<Self>),
    /// Exactly two of these.
    Pair(Box<Self>),
    /// A map of these, with names that are not known in advance.
    Map(Box<Self>),
    /// A map of these, with names that match this regular expression.
    Named(&'static str, Box<Self>),
    /// Fields with any names and values, at least so many.
    Fields(u64),
    /// Any of these.
    AnyOf(Vec<Self>),
    /// A record.
    Record(Description),
    /// An object that is read, not written.
    Outlined(&'static Object),
}

impl Shape {
    /// The shape of a record.
    pub fn record<R: Record>() -> Self {
        Self::Record(Description { name: R::NAME, columns: R::columns() })
    }

    /// One of these words.
    pub fn words(words: impl IntoIterator<Item = &'static str>) -> Self {
        Self::Words { name: None, words: words.into_iter().collect(), by: None }
    }

    /// One of these words, under one name for all its uses; `by` is the command that explains each of them.
    pub fn explained(name: &'static str, words: impl IntoIterator<Item = &'static str>, by: &'static str) -> Self {
        Self::Words { name: Some(name), words: words.into_iter().collect(), by: Some(by) }
    }

    /// One of these words, under one name for all its uses.
    pub fn named(name: &'static str, words: impl IntoIterator<Item = &'static str>) -> Self {
        Self::Words { name: Some(name), words: words.into_iter().collect(), by: None }
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
    pub columns: &'static [Column],
}

/// The description of a field.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name for machines.
    pub word: &'static str,
    /// Its possible values.
    pub shape: fn() -> Shape,
    /// The fields of a nested record.
    nested: Option<fn() -> &'static [Self]>,
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
    /// It answers the question of the table, so that people see it on every screen.
    pub is_kept: bool,
    /// It is an amount compared with another, so people see its sign.
    pub is_difference: bool,
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
    /// A field of any shape.
    pub const fn field(word: &'static str, shape: fn() -> Shape, meaning: &'static str) -> Self {
        Self {
            word,
            shape,
            nested: None,
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
            is_kept: false,
            is_difference: false,
            must_vary: false,
            must_count: false,
            missing: "",
        }
    }

    /// Text.
    pub const fn text(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Text, meaning)
    }

    /// A yes or no.
    pub const fn truth(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Truth, meaning)
    }

    /// A number of things.
    pub const fn count(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Count { least: 0 }, meaning)
    }

    /// A position in a list: a number that is never summed.
    pub const fn ordinal(word: &'static str, meaning: &'static str) -> Self {
        Self::count(word, meaning).unit("position")
    }

    /// A number of tokens.
    pub const fn tokens(word: &'static str, meaning: &'static str) -> Self {
        Self::count(word, meaning).unit("tokens")
    }

    /// A number with decimals.
    pub const fn number(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Number, meaning)
    }

    /// A share of a whole.
    pub const fn share(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Share, meaning).unit("part of 1")
    }

    /// An amount of money, exact to the last digit.
    pub const fn usd(word: &'static str, meaning: &'static str) -> Self {
        Self::number(word, meaning).unit("USD")
    }

    /// An instant or a span, with up to six decimals.
    pub const fn millis(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::Positive, meaning).unit("ms")
    }

    /// A list of texts.
    pub const fn texts(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::List(Box::new(Shape::Text)), meaning)
    }

    /// A nested record.
    pub const fn record<R: Record>(word: &'static str, meaning: &'static str) -> Self {
        Self { nested: Some(R::columns), ..Self::field(word, Shape::record::<R>, meaning) }
    }

    /// A list of nested records.
    pub const fn records<R: Record>(word: &'static str, meaning: &'static str) -> Self {
        Self::field(word, || Shape::List(Box::new(Shape::record::<R>())), meaning)
    }

    /// The fields of another record, as fields of this one.
    pub const fn flat<R: Record>() -> Self {
        Self { is_flat: true, is_bare: true, ..Self::record::<R>("", "") }
    }

    /// The name and version of a format.
    pub const fn format(shape: fn() -> Shape) -> Self {
        Self::field("schema", shape, "Name and version of the format.")
    }

    /// The fields of a nested record.
    pub fn nested(&self) -> Option<&'static [Self]> {
        self.nested.map(|columns| columns())
    }

    /// Its value as it is written.
    pub(super) fn value(&self, value: Value) -> Value {
        debug_assert!(value != Value::Null || self.null.is_some(), "{} is null", self.word);
        debug_assert!(value != Value::Absent || self.absent.is_some(), "{} is absent", self.word);
        if self.is_flat && value == Value::Null {
            return self.nulls();
        }
        if self.is_derived { Value::Derived(Box::new(value)) } else { value }
    }

    /// A null in place of each of its fields.
    fn nulls(&self) -> Value {
        match self.nested() {
            Some(columns) => Value::Fields(columns.iter().map(|column| (column.word, column.nulls())).collect()),
            None => Value::Null,
        }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = Some(unit);
        self
    }

    /// It can be null, in this case.
    #[must_use]
    pub const fn null(mut self, when: &'static str) -> Self {
        self.null = Some(when);
        self
    }

    /// JSON may lack it, in this case.
    #[must_use]
    pub const fn absent(mut self, when: &'static str) -> Self {
        self.absent = Some(when);
        self
    }

    /// It follows from other fields, so JSON leaves it out.
    #[must_use]
    pub const fn derived(mut self) -> Self {
        self.is_derived = true;
        self
    }

    /// Comma-separated values use the names of this record's fields without a prefix.
    #[must_use]
    pub const fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// Comma-separated values leave it out.
    #[must_use]
    pub const fn no_cell(mut self) -> Self {
        self.has_no_cell = true;
        self
    }

    /// It is shown to people, under this heading.
    #[must_use]
    pub const fn shown(mut self, heading: &'static str) -> Self {
        self.heading = Some(heading);
        self
    }

    /// People can do without it if there is not enough room.
    #[must_use]
    pub const fn if_wide(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// People see it on every screen, because it answers the question of the table.
    #[must_use]
    pub const fn kept(mut self) -> Self {
        self.is_kept = true;
        self
    }

    /// It is an amount compared with another, so people see its sign.
    #[must_use]
    pub const fn difference(mut self) -> Self {
        self.is_difference = true;
        self
    }

    /// It is shown to people if it varies.
    #[must_use]
    pub const fn if_it_varies(mut self) -> Self {
        self.must_vary = true;
        self
    }

    /// It is shown to people if it is not zero everywhere.
    #[must_use]
    pub const fn if_any(mut self) -> Self {
        self.must_count = true;
        self
    }

    /// The word for people if it is null.
    #[must_use]
    pub const fn missing(mut self, word: &'static str) -> Self {
        self.missing = word;
        self
    }
}
