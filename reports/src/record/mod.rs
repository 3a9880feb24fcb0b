//! A record is one list of fields: name, shape, unit, meaning, when it is null, how to get it. All outputs of a record
//! use this list: JSON, its schema, comma-separated values, tables for people.
//!
//! * [`number`]: numbers that keep all their digits.
//! * [`value`]: the value of a field, and its JSON.
//! * [`shape`]: the possible values of a field; `schema`: the same as a JSON Schema.
//! * [`table`]: records as rows of comma-separated values, and as cells for people.

pub mod number;
mod schema;
pub mod shape;
pub mod table;
pub mod value;

use std::io::{self, Write};

pub use schema::schema;
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

            fn fields() -> Vec<$crate::record::Field<Self>> {
                vec![$(
                    <Self as $crate::record::Record>::$shape$(::<$of>)?($($said,)* |$it| $crate::record::Value::from($value))
                        $(.$more($($given),*))*
                ),*]
            }
        }
    };
}

/// Something that is written.
pub trait Record: Sized {
    /// Its name among the definitions of a schema.
    const NAME: &'static str;

    /// Its fields, in the order in which they are written.
    fn fields() -> Vec<Field<Self>>;

    /// A field of any shape.
    fn field(word: &'static str, shape: fn() -> Shape, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Field { column: Column::new(word, shape, meaning), of }
    }

    /// Text.
    fn text(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Text, meaning, of)
    }

    /// A yes or no.
    fn truth(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Truth, meaning, of)
    }

    /// A number of things.
    fn count(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Count { least: 0 }, meaning, of)
    }

    /// A position in a list: a number that is never summed.
    fn ordinal(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::count(word, meaning, of).unit("position")
    }

    /// A number of tokens.
    fn tokens(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::count(word, meaning, of).unit("tokens")
    }

    /// A number with decimals.
    fn number(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Number, meaning, of)
    }

    /// A share of a whole.
    fn share(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Share, meaning, of).unit("part of 1")
    }

    /// An amount of money, exact to the last digit.
    fn usd(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::number(word, meaning, of).unit("USD")
    }

    /// An instant or a span, with up to six decimals.
    fn millis(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::Positive, meaning, of).unit("ms")
    }

    /// A list of texts.
    fn texts(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::List(Box::new(Shape::Text)), meaning, of)
    }

    /// A nested record.
    fn record<T: Record>(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, Shape::record::<T>, meaning, of)
    }

    /// A list of nested records.
    fn records<T: Record>(word: &'static str, meaning: &'static str, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field(word, || Shape::List(Box::new(Shape::record::<T>())), meaning, of)
    }

    /// The fields of another record, as fields of this one.
    fn flat<T: Record>(of: fn(&Self) -> Value) -> Field<Self> {
        let mut field = Self::record::<T>("", "", of);
        field.column.is_flat = true;
        field.bare()
    }

    /// The name and version of a format.
    fn format(shape: fn() -> Shape, of: fn(&Self) -> Value) -> Field<Self> {
        Self::field("schema", shape, "Name and version of the format.", of)
    }

    /// Its fields with their values.
    fn value(&self) -> Value {
        Value::Fields(Self::fields().iter().map(|field| (field.column.word, field.value(self))).collect())
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

/// A column with the function that gets its value.
pub struct Field<R> {
    /// Its description.
    pub column: Column,
    /// Its value.
    pub of: fn(&R) -> Value,
}

impl<R> Field<R> {
    /// Its value in this record.
    pub fn value(&self, record: &R) -> Value {
        let value = (self.of)(record);
        let Column { word, null, absent, .. } = &self.column;
        debug_assert!(value != Value::Null || null.is_some(), "{word} is null");
        debug_assert!(value != Value::Absent || absent.is_some(), "{word} is absent");
        if self.column.is_flat && value == Value::Null {
            return self.column.nulls();
        }
        if self.column.is_derived { Value::Derived(Box::new(value)) } else { value }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.column.unit = Some(unit);
        self
    }

    /// It can be null, in this case.
    #[must_use]
    pub const fn null(mut self, when: &'static str) -> Self {
        self.column.null = Some(when);
        self
    }

    /// JSON may lack it, in this case.
    #[must_use]
    pub const fn absent(mut self, when: &'static str) -> Self {
        self.column.absent = Some(when);
        self
    }

    /// It follows from other fields, so JSON leaves it out.
    #[must_use]
    pub const fn derived(mut self) -> Self {
        self.column.is_derived = true;
        self
    }

    /// Comma-separated values use the names of this record's fields without a prefix.
    #[must_use]
    pub const fn bare(mut self) -> Self {
        self.column.is_bare = true;
        self
    }

    /// Comma-separated values leave it out.
    #[must_use]
    pub const fn no_cell(mut self) -> Self {
        self.column.has_no_cell = true;
        self
    }

    /// It is shown to people, under this heading.
    #[must_use]
    pub const fn shown(mut self, heading: &'static str) -> Self {
        self.column.heading = Some(heading);
        self
    }

    /// People can do without it if there is not enough room.
    #[must_use]
    pub const fn if_wide(mut self) -> Self {
        self.column.is_optional = true;
        self
    }

    /// It is shown to people if it varies.
    #[must_use]
    pub const fn if_it_varies(mut self) -> Self {
        self.column.must_vary = true;
        self
    }

    /// It is shown to people if it is not zero everywhere.
    #[must_use]
    pub const fn if_any(mut self) -> Self {
        self.column.must_count = true;
        self
    }

    /// The word for people if it is null.
    #[must_use]
    pub const fn missing(mut self, word: &'static str) -> Self {
        self.column.missing = word;
        self
    }
}
