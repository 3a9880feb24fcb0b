//! Edits that break one behaviour each (`sim/coverage/breaks.toml`).

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// An edit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// The behaviours that it breaks.
    pub ids: Vec<String>,
    /// The file.
    pub file: String,
    /// The text that is replaced; it occurs once.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
}

#[derive(Deserialize)]
struct Table {
    r#break: Vec<Break>,
}

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("sim lies in the workspace").to_owned()
}

/// All edits.
pub fn all() -> Vec<Break> {
    let text = fs::read_to_string(root().join("sim/coverage/breaks.toml")).expect("the table");
    toml::from_str::<Table>(&text).expect("a table of edits").r#break
}
