//! Standard error: everything that is no data.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use forkcast_sim::outside::{inert_line, visible};

use crate::args::{Progress, TalkArgs};

/// Says a line or several, whether or not somebody listens. Names in them move no cursor.
pub fn say(lines: fmt::Arguments<'_>) {
    // Nothing can be said about a standard error that is closed.
    drop(writeln!(io::stderr(), "{}", plain(&lines.to_string())));
}

/// The text with hidden characters written out, line by line, none of which is a command of a workflow.
pub fn plain(text: &str) -> String {
    let line = |line: &str| inert_line(&visible(line)).into_owned();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

impl TalkArgs {
    /// Says what the user may want to know.
    pub fn note(&self, line: fmt::Arguments<'_>) {
        if !self.quiet {
            say(line);
        }
    }

    /// Tells how far the work is.
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
    /// One line that is written over, and gone at the end.
    InPlace,
}

impl How {
    /// Between two lines; also before the first, so that short work says nothing.
    const fn pause(self) -> Duration {
        match self {
            Self::Silent => Duration::ZERO,
            Self::Lines => Duration::from_secs(2),
            Self::InPlace => Duration::from_millis(150),
        }
    }
}

/// How far the work is, no oftener than people read.
#[derive(Debug)]
pub struct Steps {
    how: How,
    next: Instant,
    shown: bool,
}

/// Back to the first column, and nothing behind it.
const OVER: &str = "\r\u{1b}[K";

impl Steps {
    /// Something else is done from here on.
    pub fn begin(&mut self, line: fmt::Arguments<'_>) {
        if self.how == How::Lines {
            say(format_args!("forkcast: {line}"));
        }
    }

    /// Where it stands, if it is time to say so.
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

    /// Nothing more: what stood on the terminal goes.
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
