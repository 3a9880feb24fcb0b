//! The price book as text: TOML, the same for the built-in rows and for a user's own.
//!
//! ```toml
//! [[price]]
//! model = "my-model"        # any spelling; a name that no table knows is priced by that name
//! from = 2026-10-07         # first day (UTC); left out, the prices hold from the beginning
//! input = 3                 # USD per million tokens, at most six decimals
//! write_5m = 3.75           # left out: no fee for writing, so written tokens cost as input
//! write_1h = 6              # left out: as write_5m
//! read = 0.30               # left out: no price for cached tokens, so reads cost as input
//! output = 15
//! long = { above = 200000, input = 6, output = 22.50 }  # the whole request, where the prompt is longer
//! batch = { factor = 0.5 }  # also flex, priority, and fast (Anthropic's `speed`): a factor, prices, or both
//! us = 1.1                  # `inference_geo: "us"`
//! regional = 1.1            # regional endpoints
//! peak = { utc = ["01:00-04:00"], days = ["mon", "fri"], except = [2026-10-01], factor = 2 }
//! source = "page"
//! dated = "2026-10"
//! note = "what else should be known"
//!
//! [[fee]]
//! vendor = "anthropic"
//! name = "web_search"
//! unit = "request"
//! price = 10
//! per = 1000
//! ```

mod entry;
mod print;
mod value;

use thiserror::Error;

use crate::outside::complaint;

use super::book::PriceBook;
use super::fees::{Fee, NotBilled};
use super::row::PriceRow;

/// The content of a price file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BookFile {
    pub rows: Vec<PriceRow>,
    pub fees: Vec<Fee>,
    pub not_billed: Vec<NotBilled>,
}

/// A text that is not a price book.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct BadBook {
    /// Line, counted from 1.
    pub line: usize,
    /// Character of the line, counted from 1.
    pub column: usize,
    /// The finding and the expectation.
    pub problem: String,
}

impl BadBook {
    fn at(text: &str, offset: usize, problem: impl Into<String>) -> Self {
        let before = text.get(..offset.min(text.len())).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).map_or(1, |line| line.chars().count() + 1);
        Self { line: before.matches('\n').count() + 1, column, problem: problem.into() }
    }
}

/// Parses a price file.
pub(super) fn read(text: &str) -> Result<BookFile, BadBook> {
    let entries: entry::Entries = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        BadBook::at(text, offset, complaint::toml(&error, text))
    })?;
    entries.check().map_err(|(offset, problem)| BadBook::at(text, offset, problem))
}

/// Prints a book in the format of [`read`].
pub(super) fn print(book: &PriceBook) -> String {
    print::book(book)
}
