//! Requests of a real client, recorded by a proxy. They are other people's data and stored outside the project.

use std::path::{Path, PathBuf};

use forkcast_fixtures::{beside, unpacked};
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

/// The folder, if it exists.
pub fn folder() -> Option<PathBuf> {
    beside("wire-cache-fix/harvested")
}

/// The bodies of a capture that are prompts of a conversation.
fn bodies(path: &Path) -> Vec<String> {
    let capture: Capture = serde_json::from_str(&unpacked(path)).unwrap();
    capture.records.into_iter().filter_map(|record| Some(record.body?.get().to_owned())).collect()
}

/// Conversations with only their messages: a client's reminders alternate between their message and a separate one, and
/// move from request to request.
pub const FLAP: &str = "flap-s-0dc8ac87c43d-86.json.gz";
pub const MOVE: &str = "reset-move-s-97097e027ac0-196-197.json.gz";

#[derive(Deserialize)]
struct Arrays {
    requests: Vec<Messages>,
}

#[derive(Deserialize)]
struct Messages {
    n: u32,
    messages: Box<RawValue>,
}

/// The requests of such a file by their number in the capture, after our own tools and system prompt.
pub fn arrays(name: &str) -> Vec<(u32, String)> {
    let Some(folder) = folder() else { return Vec::new() };
    let arrays: Arrays = serde_json::from_str(&unpacked(&folder.join(name))).unwrap();
    let system = "You are an agent for code. ".repeat(400);
    let tool = |name: &str| {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}"#;
        format!(r#"{{"name":"{name}","description":"The tool {name}.","input_schema":{schema}}}"#)
    };
    let tools = ["Agent", "Bash", "Edit", "Read"].map(tool).join(",");
    let body = |messages: &RawValue| {
        format!(
            r#"{{"model":"claude-opus-4-8","max_tokens":32000,"tools":[{tools}],"system":[{{"type":"text","text":"{system}","cache_control":{{"type":"ephemeral","ttl":"1h"}}}}],"messages":{messages}}}"#
        )
    };
    arrays.requests.iter().map(|request| (request.n, body(&request.messages))).collect()
}

/// Every captured request with a history that can be changed.
pub fn prompts() -> Vec<Prompt> {
    let Some(folder) = folder() else { return Vec::new() };
    let kept = [FLAP, MOVE].into_iter().flat_map(arrays).map(|(_, body)| body);
    let all = CAPTURES.iter().flat_map(|name| bodies(&folder.join(name))).chain(kept);
    all.map(|body| Prompt::parse(&body)).filter(|prompt| prompt.messages.len() > 3).collect()
}
