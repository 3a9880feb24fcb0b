//! The JSON Schemas as files.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use forkcast_replay::output::file::{self, Kind, NotWritten};
use serde_json::Value;
use thiserror::Error;

use forkcast_scenarios::format::outline::{Object, SCENARIO as SCENARIO_OUTLINE};
use forkcast_scenarios::sweep::outline::PLAN;
use forkcast_scenarios::sweep::plan;

use super::list::LIST;
use super::{SCENARIO, cast, check, diff, explain, fanout, ledger, manifest, movement, replay, run, sweep};
use crate::check::Check;
use crate::document::json;
use crate::movement::Movement;
use crate::record::{self, Record, schema};
use crate::report::Report;

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
    /// A file cannot be written, or is something else.
    #[error(transparent)]
    File(#[from] NotWritten),
    /// The system refuses the folder.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The JSON Schemas by the name of their format: those of output are generated from its records, those of input from their
/// outlines. The files in `schema/` are equal to these.
pub static SCHEMAS: LazyLock<Vec<(&'static str, Cow<'static, str>)>> = LazyLock::new(|| {
    vec![
        made::<Report<'_>>(replay::SCHEMA, replay::ABOUT),
        made::<ledger::LedgerLine<'_>>(ledger::SCHEMA, ledger::ABOUT),
        made::<manifest::ManifestFile>(manifest::SCHEMA, manifest::ABOUT),
        made::<Check<'_>>(check::SCHEMA, check::ABOUT),
        made::<Movement>(movement::SCHEMA, movement::ABOUT),
        made::<diff::Diff<'_>>(diff::SCHEMA, diff::ABOUT),
        made::<explain::Subject<'_>>(explain::SCHEMA, explain::ABOUT),
        made::<run::RunResult<'_>>(run::SCHEMA, run::ABOUT),
        made::<cast::Played<'_>>(cast::SCHEMA, cast::ABOUT),
        made::<fanout::Fanout<'_>>(fanout::SCHEMA, fanout::ABOUT),
        of_outline(plan::SCHEMA, &PLAN),
        made::<sweep::Sweep<'_>>(sweep::SCHEMA, sweep::ABOUT),
        of_outline(SCENARIO, &SCENARIO_OUTLINE),
        of_outline(json::SCHEMA, &LIST),
    ]
});

fn made<R: Record>(name: &'static str, about: &'static str) -> (&'static str, Cow<'static, str>) {
    text(name, &schema::<R>(name, about))
}

fn of_outline(name: &'static str, object: &'static Object) -> (&'static str, Cow<'static, str>) {
    text(name, &record::of_outline(name, object))
}

fn text(name: &'static str, schema: &record::Value) -> (&'static str, Cow<'static, str>) {
    (name, Cow::Owned(serde_json::to_string_pretty(schema).unwrap_or_default() + "\n"))
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

    /// The description in the schema.
    pub fn description(&self) -> String {
        let schema: Value = serde_json::from_str(self.text).unwrap_or_default();
        schema["description"].as_str().unwrap_or_default().to_owned()
    }
}

/// Writes every schema into a folder, which is created if missing. Returns the names of the files.
///
/// # Errors
/// When the folder or a file cannot be written, or a file of that name is something else.
pub fn write_all(folder: &Path) -> Result<Vec<String>, SchemaError> {
    fs::create_dir_all(folder).map_err(|source| SchemaError::Io { path: folder.to_owned(), source })?;
    let names: Vec<String> = schemas().map(|schema| schema.file_name()).collect();
    // Check all before writing the first.
    names.iter().try_for_each(|name| file::check(&folder.join(name), SCHEMA))?;
    for (schema, name) in schemas().zip(&names) {
        file::write(&folder.join(name), SCHEMA, schema.text.as_bytes())?;
    }
    Ok(names)
}

/// A schema that this version or an earlier one wrote.
const SCHEMA: Kind = Kind { name: "schema", is_ours: |head| head.contains("\"$id\": \"forkcast:forkcast.") };
