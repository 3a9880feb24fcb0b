//! What is wrong with a definition.

use std::fmt;
use std::rc::Rc;

use super::sources::{Source, Text};

/// A definition that cannot be used, and the place that says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {field}: found {found}, expected {expected} (definition from source `{source_name}`)", source_name = .origin.name())]
pub struct Invalid {
    /// The source of the text.
    pub origin: Source,
    /// Its path.
    pub path: Rc<str>,
    /// Line, counted from one.
    pub line: usize,
    /// The field; in JSON `name.field`.
    pub field: Rc<str>,
    /// What stands there.
    pub found: Rc<str>,
    /// What should.
    pub expected: Rc<str>,
}

impl Invalid {
    /// A fault at `line` of `text`.
    pub(super) fn at(text: &Text, line: usize, field: &str, found: impl fmt::Display, expected: &str) -> Self {
        Self {
            origin: text.source,
            path: text.path.clone(),
            line,
            field: field.into(),
            found: found.to_string().into(),
            expected: expected.into(),
        }
    }
}
