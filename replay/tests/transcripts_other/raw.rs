//! Recordings next to the workspace as plain JSON, read without the crate under test.

use forkcast_fixtures::{beside, unpacked};
use forkcast_replay::input::{InputFormat, Inputs};
use serde_json::Value;

/// The crate's reading of it.
pub fn inputs(name: &str) -> Option<Inputs> {
    Some(Inputs::read(&[beside(name)?], InputFormat::Auto).unwrap())
}

/// All files below with one of the endings, unpacked, in order of their names.
pub fn files(name: &str, endings: &[&str]) -> Vec<(String, String)> {
    let Some(folder) = beside(name) else { return Vec::new() };
    let found = forkcast_fixtures::files(&folder).into_iter().map(|path| (path.to_string_lossy().into_owned(), path));
    let wanted = found.filter(|(name, _)| endings.iter().any(|ending| name.trim_end_matches(".gz").ends_with(ending)));
    wanted.map(|(name, path)| (name, unpacked(&path))).collect()
}

/// The records of a file of lines.
pub fn lines(text: &str) -> Vec<Value> {
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The whole number at a JSON pointer; zero if there is none.
pub fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// The text at a JSON pointer.
pub fn word<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
