//! Standard output: data, in the requested format.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use forkcast_reports::document::terminal::Look;
use forkcast_reports::document::{Document, csv, json, markdown, terminal};

use crate::args::Format;
use crate::exit::BadInput;

/// Passes buffered standard output to `write` and flushes it.
///
/// The reader may close it (`| head`): the rest is then discarded without an error.
///
/// # Errors
/// Bad input if standard output cannot be written, as on a full disk.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut target = BufWriter::new(Remembering { target: io::stdout().lock(), failure: None });
    let written = write(&mut target).and_then(|()| target.flush());
    // Buffered text is dropped, because it can no longer be written.
    let (Remembering { failure, .. }, _) = target.into_parts();
    match failure {
        Some(failure) => printed(Err(failure)),
        None => Ok(written?),
    }
}

/// Checks the format for `--table`, which must be CSV.
///
/// # Errors
/// Bad usage if another one is requested.
pub fn table_alone(is_alone: bool, format: Format) -> anyhow::Result<()> {
    if is_alone && matches!(format, Format::Json | Format::Jsonl | Format::Markdown) {
        return Err(BadInput::error("--table prints comma-separated values; remove --format or --table"));
    }
    Ok(())
}

/// The result for a failure of standard output.
///
/// # Errors
/// Bad input, unless the reader closed the pipe.
pub fn printed(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(BadInput::error(format_args!("standard output cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Keeps the failure of its target, since formats wrap it into errors of their own.
struct Remembering<W> {
    target: W,
    failure: Option<io::Error>,
}

impl<W: Write> Remembering<W> {
    fn remember<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        written.map_err(|error| {
            let kind = error.kind();
            if kind != ErrorKind::Interrupted {
                self.failure = Some(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.target.write(bytes);
        self.remember(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.target.flush();
        self.remember(flushed)
    }
}

/// Prints a document. As JSON it is its tables.
pub fn document(document: &Document, format: Format) -> anyhow::Result<()> {
    print(|target| match format {
        Format::Human => terminal::write(document, look(), target),
        Format::Markdown => markdown::write(document, target),
        Format::Csv => csv::write(document, target),
        Format::Json | Format::Jsonl => json::write(document, target),
    })
}

/// Abilities of standard output: colour only on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
fn look() -> Look {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = width_of(&io::stdout()).unwrap_or_else(|| Look::default().width);
    Look { width, colour: io::stdout().is_terminal() && !refused }
}

/// The width of the terminal that an output is, or else the one that the environment asks for. None of a file or a pipe.
pub fn width_of<T: IsTerminal>(output: &T) -> Option<u16> {
    let width = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width);
    width.filter(|_| output.is_terminal()).or_else(columns)
}

/// The width that the environment asks for, as a shell or a script sets it.
fn columns() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}
