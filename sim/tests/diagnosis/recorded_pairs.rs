//! Pairs of consecutive requests of a real client. The truth about each was read from the JSON by hand. The recordings
//! are other people's data and are kept beside the project, not in it; without them the test says so and passes.

use std::collections::BTreeSet;
use std::path::Path;

use forkcast_fixtures::{beside, unpacked};
use forkcast_sim::diagnosis::compare;
use forkcast_sim::wire::Wire;
use forkcast_sim::wire::spelling;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// File, differences, and notes of spelling.
struct Truth {
    file: &'static str,
    /// Cause, path, offset in the block.
    differences: &'static [(&'static str, &'static str, u64)],
    notes: &'static [&'static str],
    /// The newer request only appends.
    appends: bool,
}

const TRUTHS: [Truth; 3] = [
    // Two reminders after a tool result in messages[503] are gone; a system message was inserted there instead.
    // Everything after it has moved by one message. Reminder and message both begin with `{"text":"`.
    Truth {
        file: "harvested-append-after-change-s-628f31b605ed-323.jsonl.gz",
        differences: &[
            ("message_removed", "messages[503].content[1]", 9),
            ("message_removed", "messages[503].content[2]", 9),
            ("message_inserted", "messages[504].content[0]", 9),
        ],
        notes: &["messages[528].content[0] marker_moved", "messages[531].content[0] marker_moved"],
        appends: false,
    },
    // The last system message was a marked list and is now a plain string: the same prompt, followed by two messages.
    Truth {
        file: "harvested-replace-edit-s-157bd37224d7-20.jsonl",
        differences: &[],
        notes: &["messages[4] spelling", "messages[4].content[0] marker_moved", "messages[6].content[0] marker_moved"],
        appends: true,
    },
    // The same, followed by three messages, one of them a new system message.
    Truth {
        file: "harvested-splice-insert-mid-s-157bd37224d7-19.jsonl",
        differences: &[],
        notes: &["messages[1] spelling", "messages[1].content[0] marker_moved", "messages[4].content[0] marker_moved"],
        appends: true,
    },
];

#[derive(Deserialize)]
struct Line {
    body: Box<RawValue>,
}

fn bodies(path: &Path) -> [String; 2] {
    let lines: Vec<Line> = unpacked(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bodies: Vec<String> = lines.into_iter().map(|line| line.body.get().to_owned()).collect();
    bodies.try_into().unwrap()
}

/// Bytes of tools, system and the messages before `item`, counted without the code under test: breakpoints left out,
/// strings as one text block. Key order does not change a length.
fn bytes_before(body: &str, item: usize) -> u64 {
    let body: Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let mut contents: Vec<Value> = messages.map(|message| Value::Array(listed(&message["content"]))).collect();
    let named = named_tools(&Value::Array(contents.clone()));
    contents.truncate(item);
    // A tool that a message names is loaded there, and not before.
    let is_loaded = |tool: &&Value| !tool["cache_control"].is_null() || !named.contains(tool["name"].as_str().unwrap());
    let tools = body["tools"].as_array().unwrap().iter().filter(is_loaded);
    let levels = tools.chain(body["system"].as_array().unwrap());
    let contents = contents.iter().flat_map(|content| content.as_array().unwrap());
    levels.chain(contents).cloned().map(|block| plain(block).to_string().len() as u64).sum()
}

/// Names in blocks of the type `tool_reference`, at any depth.
fn named_tools(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(fields) if value["type"] == "tool_reference" => {
            fields.get("tool_name").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        }
        Value::Object(fields) => fields.values().flat_map(named_tools).collect(),
        Value::Array(elements) => elements.iter().flat_map(named_tools).collect(),
        _ => BTreeSet::new(),
    }
}

fn listed(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        other => panic!("{other}"),
    }
}

fn plain(mut block: Value) -> Value {
    let fields = block.as_object_mut().unwrap();
    fields.remove("cache_control");
    if let Some(content) = fields.get_mut("content") {
        *content = listed(content).into_iter().map(plain).collect();
    }
    block
}

#[test]
fn the_first_difference_of_each_pair_is_where_the_json_shows_it() {
    let Some(folder) = beside("wire-cache-fix/harvested") else { return };
    for truth in &TRUTHS {
        let [older, newer] = bodies(&folder.join(truth.file));
        let mut wire = Wire::default();
        let old = wire.read(older.as_bytes(), "scope", "").unwrap();
        let new = wire.read(newer.as_bytes(), "scope", "").unwrap();
        let comparison = compare(&wire, &old, &new);
        let found: Vec<_> = comparison
            .differences
            .iter()
            .map(|found| (found.cause.word(), found.path.as_str(), found.offset_in_block.unwrap()))
            .collect();
        assert_eq!(found, truth.differences, "{}", truth.file);
        for found in &comparison.differences {
            assert_eq!(found.offset_in_prefix, Some(bytes_before(&newer, 504) + 9), "{}", truth.file);
        }
        assert_eq!(comparison.alignment.appends(), truth.appends, "{}", truth.file);
        let notes = spelling::notes(older.as_bytes(), newer.as_bytes(), wire.forms()).unwrap();
        let notes: Vec<String> = notes
            .iter()
            .map(|note| format!("{} {}", note.path, forkcast_sim::diagnosis::Note::from(note.kind).word()))
            .collect();
        assert_eq!(notes, truth.notes, "{}", truth.file);
    }
}
