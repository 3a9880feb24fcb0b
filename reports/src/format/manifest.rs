//! `manifest.json` (`forkcast.manifest/1`): the files in a folder that the program wrote.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::record::{Record, Shape, Value};

/// Name and version.
pub const SCHEMA: &str = "forkcast.manifest/1";

/// What it is.
pub const ABOUT: &str = "manifest.json in a folder of --out: the files that forkcast wrote. No other file in the folder is ever replaced or removed.";

/// The content of a manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// File names, including the manifest.
    pub files: BTreeSet<String>,
    /// First and last index of each range of bodies, sorted.
    pub bodies: Vec<[usize; 2]>,
}

record! {
    ManifestFile, "manifest":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    field "files", || Shape::Different(Box::new(Shape::Text)), "File names, including the manifest." =>
        |it| Value::texts(&it.files);
    field "bodies", || Shape::list(Shape::Pair(Box::new(Shape::Count { least: 0 }))),
        "Files bodies/NNNNN.json: first and last number of each range, sorted." => |it| it.bodies.clone(), unit("position");
}

impl ManifestFile {
    /// A manifest of these files.
    pub fn new(files: BTreeSet<String>, bodies: Vec<[usize; 2]>) -> Self {
        Self { schema: SCHEMA.to_owned(), files, bodies }
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        // Texts and numbers: nothing that JSON cannot hold.
        let mut text = serde_json::to_string_pretty(&self.value()).unwrap_or_default();
        text.push('\n');
        text
    }
}
