//! A part as a file, `part-HASH.json`: whole or not there. It is written beside its name, brought to the disk and then named,
//! so that whatever ends the program in the midst of it leaves nothing under the name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::row::Row;
use super::{Refusal, hash};

/// Name and version.
const SCHEMA: &str = "forkcast.part/1";

/// What files that are not finished begin with.
const UNFINISHED: &str = ".unfinished-";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartFile {
    schema: String,
    plan: String,
    part: usize,
    /// Hash of the rows.
    digest: String,
    rows: Vec<Row>,
}

/// What stands under the name of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The part.
    Whole(Vec<Row>),
    /// Nothing.
    Absent,
    /// Something else, and what.
    Flawed(String),
}

/// The file of a part. Its name holds the hash of the plan, so parts of two plans may lie in one folder.
pub fn path(plan: &Plan, part: usize, folder: &Path) -> PathBuf {
    folder.join(format!("part-{}.json", hash(&(&plan.plan, part))))
}

/// Looks for a part.
///
/// # Errors
/// When the system refuses the file.
pub fn read(plan: &Plan, part: usize, folder: &Path) -> Result<Found, Refusal> {
    let path = path(plan, part, folder);
    match fs::read(&path) {
        Ok(bytes) => Ok(rows(plan, part, &bytes).map_or_else(Found::Flawed, Found::Whole)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Absent),
        Err(source) => Err(Refusal { path, source }),
    }
}

/// The rows, if this is the part.
fn rows(plan: &Plan, part: usize, bytes: &[u8]) -> Result<Vec<Row>, String> {
    let file: PartFile = serde_json::from_slice(bytes).map_err(|error| format!("it is torn: {error}"))?;
    if file.schema != SCHEMA {
        return Err(format!("it is `{}`, expected {SCHEMA}", file.schema));
    }
    if file.plan != plan.plan {
        return Err(format!("it is of another plan, {}", file.plan));
    }
    let cells = plan.part(part);
    if file.part != part || !file.rows.iter().map(|row| &row.cell).eq(cells.iter().map(|cell| &cell.cell)) {
        return Err(format!("it holds other cells, those of part {}", file.part));
    }
    if file.digest != Row::hash_all(&file.rows) {
        return Err("it was changed: its rows are not what its digest says".to_owned());
    }
    Ok(file.rows)
}

/// Writes a part. Two processes that make the same one do not disturb each other: both write the same bytes.
///
/// # Errors
/// When the system refuses.
pub fn write(plan: &Plan, part: usize, folder: &Path, rows: Vec<Row>) -> Result<(), Refusal> {
    let path = path(plan, part, folder);
    let digest = Row::hash_all(&rows);
    let file = PartFile { schema: SCHEMA.to_owned(), plan: plan.plan.clone(), part, digest, rows };
    let written = serde_json::to_vec(&file).map_err(io::Error::from).and_then(|bytes| whole(&path, folder, &bytes));
    written.map_err(|source| Refusal { path, source })
}

/// Writes a file that is there whole or not at all.
fn whole(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).suffix(".json").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.write_all(b"\n")?;
    // The name must not come to the disk before what it names. That the name itself comes there needs no care: a part that is
    // lost is made again.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a file that others read, whole or not at all.
///
/// # Errors
/// When the system refuses.
pub fn write_beside(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder).and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|source| Refusal { path: path.to_owned(), source })
}

/// Files that killed processes left behind. They may be removed once nobody writes any more.
///
/// # Errors
/// When the system refuses the folder.
pub fn unfinished(folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let refused = |source| Refusal { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
