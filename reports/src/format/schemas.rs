//! The JSON Schemas as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use super::SCHEMAS;

/// The schema of one format.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Name and version: `forkcast.replay/1`.
    pub name: &'static str,
    /// JSON.
    pub text: &'static str,
}

/// Why a schema cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A file of that name is something else.
    #[error("{}: is there and is no schema of forkcast; name another folder", .0.display())]
    Foreign(PathBuf),
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// Folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Every schema.
pub fn schemas() -> impl Iterator<Item = Schema> {
    SCHEMAS.iter().map(|(name, text)| Schema { name, text })
}

impl Schema {
    /// `replay-1.json`.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.name.trim_start_matches("forkcast.").replace('/', "-"))
    }

    /// What the schema says about itself.
    pub fn description(&self) -> String {
        let schema: Value = serde_json::from_str(self.text).unwrap_or_default();
        schema["description"].as_str().unwrap_or_default().to_owned()
    }
}

/// Writes every schema into a folder, which is made where it is missing. Gives the names of the files.
///
/// # Errors
/// When the folder or a file cannot be written, or a file of that name is something else.
pub fn write_all(folder: &Path) -> Result<Vec<String>, SchemaError> {
    let io = |path: &Path, source| SchemaError::Io { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| io(folder, source))?;
    let names: Vec<String> = schemas().map(|schema| schema.file_name()).collect();
    if let Some(foreign) = names.iter().map(|name| folder.join(name)).find(|path| !is_ours(path)) {
        return Err(SchemaError::Foreign(foreign));
    }
    for (schema, name) in schemas().zip(&names) {
        let path = folder.join(name);
        fs::write(&path, schema.text).map_err(|source| io(&path, source))?;
    }
    Ok(names)
}

/// Nothing is there, or a schema that an earlier version wrote.
fn is_ours(path: &Path) -> bool {
    match fs::read_to_string(path) {
        Ok(text) => text.contains("\"$id\": \"forkcast:forkcast."),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
