//! The outputs of several scenarios as one document: a list in JSON, one table in comma-separated values.

use std::io::{self, Write};

use forkcast_reports::document::csv;

use crate::args::{Format, RunArgs};
use crate::screen;

/// Prints the output of each scenario, or keeps it until all are known.
pub struct Printer {
    joint: Option<Joint>,
    /// Kept outputs by the names of their scenarios.
    kept: Vec<(String, Vec<u8>)>,
    /// Whether something was printed.
    began: bool,
}

/// How several outputs become one.
#[derive(Clone, Copy)]
enum Joint {
    List,
    Table,
}

impl Printer {
    /// `several`: there is more than one scenario.
    pub fn new(args: &RunArgs, several: bool) -> Self {
        let joint = match args.result.format {
            _ if !several => None,
            _ if args.table.is_some() => Some(Joint::Table),
            Format::Csv => Some(Joint::Table),
            Format::Json => Some(Joint::List),
            Format::Human | Format::Markdown | Format::Jsonl => None,
        };
        Self { joint, kept: Vec::new(), began: false }
    }

    /// Prints or keeps what `write` writes.
    pub fn print(
        &mut self,
        scenario: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.joint.is_none() {
            return screen::print(write);
        }
        let mut output = Vec::new();
        write(&mut output)?;
        self.kept.push((scenario.to_owned(), output));
        Ok(())
    }

    /// An empty line between documents for people.
    pub fn part(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.began, true) { screen::print(|target| writeln!(target)) } else { Ok(()) }
    }

    /// Prints what was kept.
    pub fn end(self) -> anyhow::Result<()> {
        match self.joint {
            None => Ok(()),
            Some(Joint::List) => screen::print(|target| list(&self.kept, target)),
            Some(Joint::Table) => screen::print(|target| table(&self.kept, target)),
        }
    }
}

fn list(outputs: &[(String, Vec<u8>)], target: &mut dyn Write) -> io::Result<()> {
    for (at, (_, output)) in outputs.iter().enumerate() {
        target.write_all(if at == 0 { b"[\n" } else { b",\n" })?;
        target.write_all(output.trim_ascii_end())?;
    }
    target.write_all(if outputs.is_empty() { b"[]\n" } else { b"\n]\n" })
}

/// The first column names the scenario. Values have no line ends.
fn table(outputs: &[(String, Vec<u8>)], target: &mut dyn Write) -> io::Result<()> {
    for (at, (scenario, output)) in outputs.iter().enumerate() {
        let mut name = Vec::new();
        csv::row(&mut name, [scenario])?;
        let mut lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        if let Some(head) = lines.next().filter(|_| at == 0) {
            target.write_all(&[b"scenario,", head, b"\n"].concat())?;
        }
        for line in lines {
            target.write_all(&[name.trim_ascii_end(), b",", line, b"\n"].concat())?;
        }
    }
    Ok(())
}
