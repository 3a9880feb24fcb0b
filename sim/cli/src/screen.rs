//! Standard output: data, in the form that was asked for.

use std::io::{self, BufWriter, IsTerminal, Write};

use forkcast_reports::document::terminal::Look;
use forkcast_reports::document::{Document, csv, json, markdown, terminal};

use crate::args::Format;

/// Hands buffered standard output to `write` and flushes it.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut target = BufWriter::new(io::stdout().lock());
    write(&mut target)?;
    target.flush()?;
    Ok(())
}

/// Prints a document. As JSON it is its tables.
pub fn document(document: &Document, format: Format) -> anyhow::Result<()> {
    print(|target| match format {
        Format::Human => terminal::write(document, look(), target),
        Format::Markdown => markdown::write(document, target),
        Format::Csv => csv::write(document, target),
        Format::Json => json::write(document, target),
    })
}

/// What standard output can do: colour on a terminal alone, and not where `NO_COLOR` is set or the terminal is dumb.
fn look() -> Look {
    let width = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width);
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let on_terminal = io::stdout().is_terminal();
    match width.filter(|_| on_terminal) {
        Some(width) => Look { width, colour: !refused },
        None => Look { colour: on_terminal && !refused, ..Look::default() },
    }
}
