//! A part as a file, `part-HASH.json`, either complete or absent. It is written under a temporary name, flushed to disk
//! and then renamed, so that an aborted program leaves nothing under the final name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use forkcast_replay::output::file::{self, Kind, NotWritten, Why, begins};
use forkcast_sim::outside::{self, complaint};
use serde::{Deserialize, Serialize};

use super::outcome::CellOutcome;
use super::plan::Plan;
use super::{Refusal, hash};

/// Schema name and version.
const SCHEMA: &str = "forkcast.part/2";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartFile {
    schema: String,
    plan: String,
    part: usize,
    /// Hash of the rows.
    digest: String,
    rows: Vec<CellOutcome>,
}

/// The file under the name of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The part.
    Whole(Vec<CellOutcome>),
    /// No file.
    Absent,
    /// Something else, with a description.
    Flawed(String),
}

/// The file of a part. Its name contains the hash of the plan, so parts of several plans can share a folder.
pub fn path(plan: &Plan, part: usize, folder: &Path) -> PathBuf {
    folder.join(format!("part-{}.json", hash(&(&plan.plan, part))))
}

/// Looks for a part.
///
/// # Errors
/// If the file cannot be read.
pub fn read(plan: &Plan, part: usize, folder: &Path) -> Result<Found, Refusal> {
    let path = path(plan, part, folder);
    match fs::read(&path) {
        Ok(bytes) => Ok(rows(plan, part, &bytes).map_or_else(Found::Flawed, Found::Whole)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Absent),
        Err(source) => Err(Refusal { path, source }),
    }
}

/// The rows, if the file is this part.
fn rows(plan: &Plan, part: usize, bytes: &[u8]) -> Result<Vec<CellOutcome>, String> {
    let file: PartFile =
        serde_json::from_slice(bytes).map_err(|error| format!("it is incomplete: {}", complaint::json(&error)))?;
    if file.schema != SCHEMA {
        return Err(format!("it is {}, expected {SCHEMA}", outside::found(&file.schema)));
    }
    if file.plan != plan.plan {
        return Err(format!("it is of another plan, {}", outside::found(&file.plan)));
    }
    let cells = plan.part(part);
    if file.part != part || !file.rows.iter().map(|row| row.cell.clone()).eq(cells.map(|cell| plan.cell(cell).cell)) {
        return Err(format!("it holds other cells, those of part {}", file.part));
    }
    if file.digest != CellOutcome::hash_all(&file.rows) {
        return Err("it was changed: its rows do not match its digest".to_owned());
    }
    Ok(file.rows)
}

/// Writes a part. Two processes that compute the same part do not disturb each other, because both write the same
/// bytes.
///
/// # Errors
/// On a system error, or if another kind of file has its name.
pub fn write(plan: &Plan, part: usize, folder: &Path, rows: Vec<CellOutcome>) -> Result<(), Refusal> {
    let path = path(plan, part, folder);
    let digest = CellOutcome::hash_all(&rows);
    let content = PartFile { schema: SCHEMA.to_owned(), plan: plan.plan.clone(), part, digest, rows };
    match serde_json::to_vec(&content) {
        Ok(mut bytes) => {
            bytes.push(b'\n');
            Ok(file::write(&path, PART, &bytes)?)
        }
        Err(error) => Err(Refusal { path, source: error.into() }),
    }
}

/// A part file, or the start of an incomplete one.
pub const PART: Kind = Kind {
    name: "part",
    is_ours: |head| {
        let mark = "{\"schema\":\"forkcast.part/";
        begins(head, mark) || begins(mark, head)
    },
};

impl From<NotWritten> for Refusal {
    fn from(NotWritten { path, why }: NotWritten) -> Self {
        let source = match why {
            Why::Io(source) => source,
            other => io::Error::other(other.to_string()),
        };
        Self { path, source }
    }
}

/// Files left by killed processes. They can be removed once no process is writing.
///
/// # Errors
/// If the folder cannot be read.
pub fn unfinished(folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    file::unfinished(folder, &[PART]).map_err(|source| Refusal { path: folder.to_owned(), source })
}
