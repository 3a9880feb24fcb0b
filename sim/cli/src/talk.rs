//! Standard error: everything except data.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use forkcast_reports::document::{line_width, wrapped};
use forkcast_sim::outside::{inert_line, visible};

use crate::args::{Progress, TalkArgs};
use crate::screen;

/// Writes one or more lines, even if standard error is closed. Names in them cannot control the terminal.
pub fn say(lines: fmt::Arguments<'_>) {
    let text = plain(&lines.to_string());
    let text = screen::width_of(&io::stderr()).map_or_else(|| text.clone(), |width| within(&text, width.into()));
    // A closed standard error cannot be reported.
    drop(writeln!(io::stderr(), "{text}"));
}

/// The text in lines of at most `width` columns, broken between words. Indented lines keep their form, for they show a
/// place in a file.
pub fn within(text: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    let line = |line: &str| {
        if line.starts_with(' ') || line_width(line) <= width {
            return line.to_owned();
        }
        wrapped(line, width.saturating_sub(INDENT.len())).join(&format!("\n{INDENT}"))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The text with hidden characters written out, line by line, so that no line is a command of a workflow.
pub fn plain(text: &str) -> String {
    let line = |line: &str| inert_line(&visible(line)).into_owned();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

impl TalkArgs {
    /// Writes information for the user.
    pub fn note(&self, line: fmt::Arguments<'_>) {
        if !self.quiet {
            say(line);
        }
    }

    /// Reports the progress of the work.
    pub fn steps(&self) -> Steps {
        let how = match self.progress {
            _ if self.quiet => How::Silent,
            Progress::None => How::Silent,
            Progress::Plain => How::Lines,
            Progress::Auto if io::stderr().is_terminal() => How::InPlace,
            Progress::Auto => How::Silent,
        };
        Steps { how, next: Instant::now() + how.pause(), shown: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Not at all.
    Silent,
    /// Line below line, for logs.
    Lines,
    /// One line that is overwritten, and removed at the end.
    InPlace,
}

impl How {
    /// Time between two lines, and before the first one, so that short work reports nothing.
    const fn pause(self) -> Duration {
        match self {
            Self::Silent => Duration::ZERO,
            Self::Lines => Duration::from_secs(2),
            Self::InPlace => Duration::from_millis(150),
        }
    }
}

/// Progress of the work, written no more often than people can read.
#[derive(Debug)]
pub struct Steps {
    how: How,
    next: Instant,
    shown: bool,
}

/// Back to the first column, and clears the line.
const OVER: &str = "\r\u{1b}[K";

impl Steps {
    /// Starts another kind of work.
    pub fn begin(&mut self, line: fmt::Arguments<'_>) {
        if self.how == How::Lines {
            say(format_args!("forkcast: {line}"));
        }
    }

    /// Reports the progress, if it is time.
    pub fn at(&mut self, line: impl FnOnce() -> String) {
        if self.how == How::Silent || Instant::now() < self.next {
            return;
        }
        let line = line();
        self.next = Instant::now() + self.how.pause();
        if self.how == How::Lines {
            return say(format_args!("forkcast: {line}"));
        }
        self.shown = true;
        let mut target = io::stderr();
        drop(write!(target, "{OVER}forkcast: {}", visible(&line)).and_then(|()| target.flush()));
    }

    /// Ends the progress and clears it on the terminal.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.shown) {
            drop(write!(io::stderr(), "{OVER}"));
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn long_lines_are_broken_between_words_and_places_in_files_keep_their_form() {
        let text = "forkcast: a line that is too wide\n  | an excerpt of a file that is too wide\nshort";
        let expected = "forkcast: a line\n  that is too wide\n  | an excerpt of a file that is too wide\nshort";
        assert_eq!(within(text, 18), expected);
        assert_eq!(within(text, 80), text);
    }
}
