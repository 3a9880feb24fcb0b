//! A field of an object.

use super::{BOUNDS, Object, Shape};

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its possible values.
    pub shape: Shape,
    /// Its meaning; empty if its object says it.
    pub meaning: &'static str,
    /// Its unit, if it is a number.
    pub unit: Option<&'static str>,
    /// When it is null, if it can be.
    pub null: Option<&'static str>,
    /// Whether it must be given.
    pub is_required: bool,
}

/// A figure: exactly this, or within bounds. Amounts may be texts, with all their digits.
const FIGURE: Shape = Shape::AnyOf(&[Shape::Positive, Shape::Text, Shape::Object(&BOUNDS)]);

impl Field {
    /// A field with these values.
    pub const fn of(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Self { name, shape, meaning, unit: None, null: None, is_required: false }
    }

    /// A text.
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Text, meaning)
    }

    /// A text that is not empty.
    pub const fn name(name: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Name, meaning)
    }

    /// One of these words.
    pub const fn words(name: &'static str, words: fn() -> Vec<&'static str>, meaning: &'static str) -> Self {
        Self::of(name, Shape::Words(words), meaning)
    }

    /// True or false.
    pub const fn truth(name: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Truth, meaning)
    }

    /// Only `true`: it is left out otherwise.
    pub const fn yes(name: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Yes, meaning)
    }

    /// A whole number of at least `least`.
    pub const fn count(name: &'static str, least: u64, unit: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Count { least }, meaning).unit(unit)
    }

    /// A position in a list, counted from zero.
    pub const fn ordinal(name: &'static str, meaning: &'static str) -> Self {
        Self::count(name, 0, "position", meaning)
    }

    /// A number of tokens.
    pub const fn tokens(name: &'static str, meaning: &'static str) -> Self {
        Self::count(name, 0, "tokens", meaning)
    }

    /// Milliseconds.
    pub const fn ms(name: &'static str, meaning: &'static str) -> Self {
        Self::count(name, 0, "ms", meaning)
    }

    /// A percentage of at least one.
    pub const fn percent(name: &'static str, meaning: &'static str) -> Self {
        Self::of(name, Shape::Between { least: 1, most: 100 }, meaning).unit("%")
    }

    /// A figure that is expected: exactly this, or within bounds.
    pub const fn figure(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self::of(name, FIGURE, meaning).unit(unit)
    }

    /// An object, which says its meaning.
    pub const fn object(name: &'static str, object: &'static Object) -> Self {
        Self::of(name, Shape::Object(object), "")
    }

    /// Any number of these.
    pub const fn list(name: &'static str, of: &'static Shape, meaning: &'static str) -> Self {
        Self::of(name, Shape::List(of), meaning)
    }

    /// These by names that are not known in advance.
    pub const fn map(name: &'static str, of: &'static Shape, meaning: &'static str) -> Self {
        Self::of(name, Shape::Map { names: None, of }, meaning)
    }

    /// Name and version of a format.
    pub const fn format(name: &'static str) -> Self {
        Self::of("schema", Shape::Constant(name), "Name and version of the format.").required()
    }

    /// It must be given.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
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
}
