//! Why a definition is invalid.

use std::fmt;
use std::rc::Rc;

use super::sources::{Source, Text};

/// An invalid definition, with the place and reason.
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
    /// The invalid value.
    pub found: Rc<str>,
    /// The expectation.
    pub expected: Rc<str>,
}

impl Invalid {
    /// An error at `line` of `text`.
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
