//! Collects the parts of a plan, in plan order.

use std::path::{Path, PathBuf};

use super::Refusal;
use super::outcome::CellOutcome;
use super::part::{self, Found};
use super::plan::Plan;

/// The content of a folder with a plan's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Rows of all existing parts, in plan order.
    pub rows: Vec<CellOutcome>,
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

/// Reads all parts.
///
/// # Errors
/// If the folder or one of its files cannot be read.
pub fn gather(plan: &Plan, folder: &Path) -> Result<Gathered, Refusal> {
    let mut gathered = Gathered { unfinished: part::unfinished(folder)?, ..Gathered::default() };
    for part in 0..plan.parts {
        let flaw = match part::read(plan, part, folder)? {
            Found::Whole(rows) => {
                gathered.rows.extend(rows);
                continue;
            }
            Found::Flawed(why) => Some(why),
            Found::Absent => None,
        };
        gathered.missing.push(Missing { part, path: part::path(plan, part, folder), flaw });
    }
    Ok(gathered)
}
