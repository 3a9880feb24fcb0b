//! Standard error: everything that is no data.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use crate::args::{Progress, TalkArgs};

/// Says a line, whether or not somebody listens.
pub fn say(line: fmt::Arguments<'_>) {
    // Nothing can be said about a standard error that is closed.
    drop(writeln!(io::stderr(), "{line}"));
}

impl TalkArgs {
    /// Says what the user may want to know.
    pub fn note(&self, line: fmt::Arguments<'_>) {
        if !self.quiet {
            say(line);
        }
    }

    /// Says what is being done.
    pub fn step(&self, line: fmt::Arguments<'_>) {
        let wanted = match self.progress {
            Progress::Auto => io::stderr().is_terminal(),
            Progress::Plain => true,
            Progress::None => false,
        };
        if wanted {
            self.note(line);
        }
    }
}
