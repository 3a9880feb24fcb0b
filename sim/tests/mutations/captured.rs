//! Requests that a real client sent, as a proxy wrote them down. Other people's data, which stands beside the project.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::prompt::Prompt;

const CAPTURES: [&str; 2] = ["pinned-s-4b6a435234bf-26-28.full.json.gz", "pinned-s-86a4ec44206b-69-71.json.gz"];

#[derive(Deserialize)]
struct Capture {
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    body: Option<Box<RawValue>>,
}

/// The folder, where it stands.
pub fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/wire-cache-fix/harvested");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("SKIPPED: no captures at {}", folder.display());
    None
}

/// The bodies of a capture that are prompts of a conversation.
fn bodies(path: &Path) -> Vec<String> {
    let mut text = String::new();
    GzDecoder::new(&fs::read(path).unwrap()[..]).read_to_string(&mut text).unwrap();
    let capture: Capture = serde_json::from_str(&text).unwrap();
    capture.records.into_iter().filter_map(|record| Some(record.body?.get().to_owned())).collect()
}

/// Every captured request that has a history to change.
pub fn prompts() -> Vec<Prompt> {
    let Some(folder) = folder() else { return Vec::new() };
    let all = CAPTURES.iter().flat_map(|name| bodies(&folder.join(name)));
    all.map(|body| Prompt::parse(&body)).filter(|prompt| prompt.messages.len() > 3).collect()
}
