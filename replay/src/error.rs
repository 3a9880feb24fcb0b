//! Errors before or after reading. Damage *inside* a recording is not an error: it is a [`Fault`], listed beside the
//! exchanges that could be read.

use std::fmt;
use std::io;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that the user named cannot be opened.
    #[error("{path}: {source}; name a file or a folder of recordings")]
    Open {
        /// The path as named by the user.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// An unknown name of an input format.
    #[error("unknown input format `{found}`, expected one of: {expected}")]
    UnknownFormat {
        /// The given value.
        found: String,
        /// All names.
        expected: String,
    },
    /// A what-if that cannot be read.
    #[error("what-if `{found}`: expected {expected}")]
    WhatIf {
        /// The part that cannot be read, as given.
        found: String,
        /// The possible values there.
        expected: String,
    },
    /// An exchange cannot be written as a line of an exchange log.
    #[error("exchange {file}#{index}: {reason}")]
    Unwritable {
        /// The file of the exchange.
        file: String,
        /// Its position there.
        index: usize,
        /// Why it cannot be written.
        reason: String,
    },
    /// Output failed.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Damage at a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, counted from one; zero if the text has no lines (compressed or binary data).
    pub line: usize,
    /// Column in bytes, counted from one; zero if unknown.
    pub column: usize,
    /// The finding and the expectation.
    pub what: String,
    /// It is in an answer: the request before it was read.
    pub of_answer: bool,
}

impl Fault {
    /// Damage somewhere in a line.
    pub fn in_line(line: usize, what: impl Into<String>) -> Self {
        Self { line, column: 0, what: what.into(), of_answer: false }
    }

    /// Damage at a column of a line.
    pub fn at(line: usize, column: usize, what: impl Into<String>) -> Self {
        Self { line, column, what: what.into(), of_answer: false }
    }
}

impl fmt::Display for Fault {
    /// The text of a report that names file and line elsewhere: `column 17: found …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => f.write_str(&self.what),
            column => write!(f, "column {column}: {}", self.what),
        }
    }
}
