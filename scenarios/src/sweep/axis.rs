//! An axis of a sweep as typed: `session.ttl=5m,1h`, `seed=1..20`, `prefix=20k..100k:20k`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::fanout::range;

/// Maximum number of values of one axis; more is probably a typing error.
const VALUES_MAX: usize = 10_000;

/// A field and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The field: `session.ttl` of a scenario, `children` of a fan-out.
    pub path: String,
    /// Its values, as typed for `--set`.
    pub values: Vec<String>,
}

/// Why an axis is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAxis {
    /// No `=`.
    #[error("`{0}`: expected FIELD=VALUE,VALUE,… such as session.ttl=5m,1h or seed=1..20")]
    Form(String),
    /// A value is empty.
    #[error("`{0}`: a value is empty; for an empty text write \"\"")]
    Empty(String),
    /// A quotation mark or a bracket is not closed.
    #[error("`{0}`: a bracket or a quotation mark is not closed; commas inside them do not separate values")]
    Open(String),
    /// A range is invalid or too long.
    #[error("`{path}`: {bad}")]
    Range {
        /// The field.
        path: String,
        /// The reason.
        bad: range::BadRange,
    },
    /// Too many values.
    #[error("`{0}` has more than {VALUES_MAX} values")]
    TooMany(String),
    /// A value is given twice, so two cells would be equal.
    #[error("`{path}` has the value `{value}` twice: two cells would be the same")]
    Twice {
        /// The field.
        path: String,
        /// The value.
        value: String,
    },
}

impl Axis {
    /// Parses an axis. Values are separated by commas outside brackets and quotations; a value such as `1..20`,
    /// `0..100k:25k` or `1..1000:x10` is a range of numbers with its end included.
    ///
    /// # Errors
    /// The error in it.
    pub fn read(text: &str) -> Result<Self, BadAxis> {
        let (path, values) = text.split_once('=').ok_or_else(|| BadAxis::Form(text.to_owned()))?;
        let path = path.trim().to_owned();
        if path.is_empty() {
            return Err(BadAxis::Form(text.to_owned()));
        }
        let mut all = Vec::new();
        for value in parted(values).ok_or_else(|| BadAxis::Open(text.to_owned()))? {
            match value.trim() {
                "" => return Err(BadAxis::Empty(text.to_owned())),
                range if is_range(range) => {
                    let numbers = range::numbers(range);
                    let numbers = numbers.map_err(|bad| BadAxis::Range { path: path.clone(), bad })?;
                    all.extend(numbers.iter().map(ToString::to_string));
                }
                value => all.push(value.to_owned()),
            }
            if all.len() > VALUES_MAX {
                return Err(BadAxis::TooMany(path));
            }
        }
        Self { path, values: all }.once_each()
    }

    /// The axis, if it has no duplicate values.
    ///
    /// # Errors
    /// The first duplicate.
    pub fn once_each(self) -> Result<Self, BadAxis> {
        let mut seen = BTreeSet::new();
        match self.values.iter().find(|value| !seen.insert(value.as_str())) {
            Some(value) => Err(BadAxis::Twice { path: self.path.clone(), value: value.clone() }),
            None => Ok(self),
        }
    }

    /// `path=value` for one of the values.
    pub fn set(&self, value: usize) -> String {
        format!("{}={}", self.path, self.values[value])
    }
}

/// Such as `1..20`: digits on both sides of the dots. Other texts with dots are values.
fn is_range(text: &str) -> bool {
    let begins = |part: &str| part.trim_start().starts_with(|c: char| c.is_ascii_digit());
    text.split_once("..").is_some_and(|(from, to)| begins(from) && begins(to))
}

/// Splits a text at its outer commas. `None` if a bracket or a quotation mark is not closed.
fn parted(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = ',';
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            // Inside a word it is an apostrophe.
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
        before = c;
    }
    parts.push(&text[start..]);
    (depth == 0 && quote.is_none()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::{Axis, BadAxis};

    #[test]
    fn values_are_words_ranges_and_any_yaml() {
        for (text, values) in [
            ("session.ttl=5m, 1h", &["5m", "1h"][..]),
            ("seed=1..3,9", &["1", "2", "3", "9"]),
            ("prefix=20k..40k:10k", &["20000", "30000", "40000"]),
            ("covers=[A-01, A-02],[]", &["[A-01, A-02]", "[]"]),
            ("script.main[0].say=\"a, b\",don't", &["\"a, b\"", "don't"]),
            ("session.cwd=/a/../b", &["/a/../b"]),
            ("session.model=claude-opus-4-8", &["claude-opus-4-8"]),
        ] {
            assert_eq!(Axis::read(text).map(|axis| axis.values), Ok(values.iter().map(ToString::to_string).collect()));
        }
    }

    #[test]
    fn invalid_axes_are_refused() {
        for text in ["", "seed", "=1", "seed=", "seed=1,,2", "seed=1,1", "seed=1..2,2", "seed=9..1", "covers=[a,b"] {
            assert!(Axis::read(text).is_err(), "{text}");
        }
        assert!(matches!(Axis::read("seed=0..99999999"), Err(BadAxis::Range { .. })));
    }
}
