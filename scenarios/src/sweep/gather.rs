//! Collects the parts of a plan, in plan order. Only one part is in memory at a time.

use std::io;
use std::path::{Path, PathBuf};
use std::vec;

use super::Refusal;
use super::outcome::CellOutcome;
use super::part::{self, Found};
use super::plan::Plan;

/// The content of a folder with a plan's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Number of cells of all existing parts.
    pub cells: usize,
    /// Missing parts.
    pub missing: Vec<Missing>,
    /// Files left by killed processes.
    pub unfinished: Vec<PathBuf>,
}

/// A missing part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its index.
    pub part: usize,
    /// Its file.
    pub path: PathBuf,
    /// The finding.
    pub flaw: Option<String>,
}

/// Reads and checks all parts; `see` gets every cell of those that exist, with its index.
///
/// # Errors
/// If the folder or one of its files cannot be read.
pub fn gather(plan: &Plan, folder: &Path, see: &mut dyn FnMut(usize, CellOutcome)) -> Result<Gathered, Refusal> {
    let mut gathered = Gathered { unfinished: part::unfinished(folder)?, ..Gathered::default() };
    for part in 0..plan.parts {
        let flaw = match part::read(plan, part, folder)? {
            Found::Whole(rows) => {
                gathered.cells += rows.len();
                plan.part(part).zip(rows).for_each(|(index, row)| see(index, row));
                continue;
            }
            Found::Flawed(why) => Some(why),
            Found::Absent => None,
        };
        gathered.missing.push(Missing { part, path: part::path(plan, part, folder), flaw });
    }
    Ok(gathered)
}

/// The rows of a complete folder, in plan order, read as they are taken.
#[derive(Debug)]
pub struct Rows<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    /// The next part.
    part: usize,
    rows: vec::IntoIter<CellOutcome>,
}

impl<'a> Rows<'a> {
    /// The rows of this folder.
    pub fn of(plan: &'a Plan, folder: &'a Path) -> Self {
        Self { plan, folder, part: 0, rows: Vec::new().into_iter() }
    }

    /// The next part's rows.
    fn turn(&mut self) -> Result<(), Refusal> {
        let part = self.part;
        self.part += 1;
        let refusal = |why: String| Refusal {
            path: part::path(self.plan, part, self.folder),
            source: io::Error::other(format!("it was removed or changed during the merge{why}")),
        };
        self.rows = match part::read(self.plan, part, self.folder)? {
            Found::Whole(rows) => rows.into_iter(),
            Found::Flawed(why) => return Err(refusal(format!(": {why}"))),
            Found::Absent => return Err(refusal(String::new())),
        };
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = io::Result<CellOutcome>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            if self.part >= self.plan.parts {
                return None;
            }
            if let Err(refusal) = self.turn() {
                self.part = self.plan.parts;
                return Some(Err(io::Error::other(refusal)));
            }
        }
    }
}
