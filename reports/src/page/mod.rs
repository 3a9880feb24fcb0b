//! One file for a browser: a report to look at, without network, server or further files.
//!
//! A page has the sentences and tables of a report as they are on a terminal, so that it can be read without scripts,
//! printed and read aloud. Its scripts draw pictures beside them from the records that machines read: these are in the
//! page as compressed JSON, and nothing is computed for a page alone.
//!
//! * [`replay()`]: recorded requests. [`run()`]: those of a run, and what only a run knows.
//! * [`fanout()`], [`sweep()`]: the cells of a grid. [`check()`]: changes that break prefixes. [`movement()`]: two results.
//! * [`request()`]: one request and its cache, or two requests.
//! * `shell`: the document around chapters and data.
//! * `packed`: JSON, compressed.
//! * `assets/`: style and scripts, written by hand, without dependencies.

mod check;
mod fanout;
mod movement;
mod packed;
mod replay;
mod request;
mod run;
mod shell;

use std::io::{self, Write};

use crate::document::Document;
use packed::Packed;

pub use check::check;
pub use fanout::{fanout, sweep};
pub use movement::movement;
pub use replay::replay;
pub use request::request;
pub use run::run;

/// A page.
#[derive(Debug)]
pub struct Page {
    /// What it shows: a word for its scripts.
    kind: &'static str,
    /// The first line.
    title: String,
    /// The command that makes it again.
    command: Option<String>,
    chapters: Vec<Chapter>,
    data: Vec<Packed>,
}

/// A part of a page.
#[derive(Debug)]
struct Chapter {
    id: &'static str,
    heading: &'static str,
    document: Document,
}

impl Page {
    /// A page without content.
    const fn new(kind: &'static str, title: String) -> Self {
        Self { kind, title, command: None, chapters: Vec::new(), data: Vec::new() }
    }

    /// Adds a part. One without text shows only what scripts draw.
    fn chapter(&mut self, id: &'static str, heading: &'static str, document: Document) {
        self.chapters.push(Chapter { id, heading, document });
    }

    /// Adds a record for the scripts.
    fn data(&mut self, name: &'static str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.data.push(Packed::of(name, write)?);
        Ok(())
    }

    /// The same with the command that makes it.
    #[must_use]
    pub fn made_by(self, command: Option<String>) -> Self {
        Self { command, ..self }
    }

    /// The text of the file.
    pub fn html(&self) -> String {
        shell::markup(self).into_string()
    }
}

/// How a page begins: files that begin otherwise are not ours and are never replaced.
pub const HEAD: &str = "<!DOCTYPE html><!-- a page of forkcast -->";
