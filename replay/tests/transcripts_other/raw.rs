//! Recordings next to the workspace as plain JSON, read without the crate under test.

use std::io::Read;

use flate2::read::GzDecoder;
use forkcast_replay::input::{InputFormat, Inputs};
use serde_json::Value;

use crate::places::beside;

/// The crate's reading of it.
pub fn inputs(name: &str) -> Option<Inputs> {
    Some(Inputs::read(&[beside(name)?], InputFormat::Auto).unwrap())
}

/// All files below with one of the endings, unpacked, in order of their names.
pub fn files(name: &str, endings: &[&str]) -> Vec<(String, String)> {
    let Some(folder) = beside(name) else { return Vec::new() };
    let (mut found, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.to_string_lossy().into_owned();
            if entry.is_dir() {
                folders.push(entry);
            } else if endings.iter().any(|ending| name.trim_end_matches(".gz").ends_with(ending)) {
                found.push((name.clone(), unpacked(&name)));
            }
        }
    }
    found.sort();
    found
}

fn unpacked(name: &str) -> String {
    let bytes = std::fs::read(name).unwrap();
    if !name.ends_with(".gz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    text
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
