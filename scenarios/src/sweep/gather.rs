//! Parts are put together, in the order of the plan.

use std::path::{Path, PathBuf};

use super::Refusal;
use super::outcome::CellOutcome;
use super::part::{self, Found};
use super::plan::Plan;

/// What lies in a folder of a plan's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Rows of all parts that are there, in the order of the plan.
    pub rows: Vec<CellOutcome>,
    /// Parts that are not there.
    pub missing: Vec<Missing>,
    /// Files that killed processes left behind.
    pub unfinished: Vec<PathBuf>,
}

/// A part that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its index.
    pub part: usize,
    /// Its file.
    pub path: PathBuf,
    /// What stands there in its place.
    pub flaw: Option<String>,
}

/// Reads all parts.
///
/// # Errors
/// When the system refuses the folder or a file of it.
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
