//! Fixtures with one value replaced by another, value by value.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// A file with a text instead of one value.
pub struct Planted {
    /// The fixture and the way to the value, its last key last.
    pub place: String,
    /// The name of the field that holds it.
    pub field: String,
    pub bytes: Vec<u8>,
}

/// Fields whose values are models and versions: they are in every report.
pub const MODELS: [&str; 6] = ["model", "modelID", "models", "version", "cli_version", "copilotVersion"];

/// Fields whose values are names of tools, agents, sessions, projects and addresses: these or their ids are in reports.
pub const NAMES: [&str; 17] = [
    "agentId",
    "agent_id",
    "chain",
    "cwd",
    "directories",
    "directory",
    "host",
    "id",
    "name",
    "project",
    "projectHash",
    "scope",
    "sessionId",
    "session_id",
    "subagent_type",
    "uri",
    "url",
];

/// How many values of one kind (a way without numbers) are replaced in a file.
const EACH: usize = 2;

/// The file once for each of its values, with `plant` instead of the value.
pub fn each_value(path: &Path, plant: &str) -> Vec<Planted> {
    let text = String::from_utf8(std::fs::read(path).unwrap()).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let mut found = match serde_json::from_str::<Value>(&text) {
        Ok(whole) => of_json(&whole, plant),
        Err(_) if text.starts_with('{') => of_lines(&text, plant),
        Err(_) => of_yaml(&text, plant),
    };
    found.iter_mut().for_each(|planted| planted.place.insert_str(0, &format!("{name}: ")));
    found
}

fn of_lines(text: &str, plant: &str) -> Vec<Planted> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut seen = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        for mut planted in of_value(&value, plant, &mut seen) {
            let line = String::from_utf8(planted.bytes).unwrap();
            planted.place = format!("line {}{}", at + 1, planted.place);
            planted.bytes = [&lines[..at], &[line.as_str()], &lines[at + 1..]].concat().join("\n").into_bytes();
            found.push(planted);
        }
    }
    found
}

fn of_json(whole: &Value, plant: &str) -> Vec<Planted> {
    of_value(whole, plant, &mut BTreeMap::new())
}

fn of_value(whole: &Value, plant: &str, seen: &mut BTreeMap<String, usize>) -> Vec<Planted> {
    let mut ways = Vec::new();
    walk(whole, &mut Vec::new(), &mut ways);
    ways.retain(|way| {
        let kind: Vec<&str> = way.iter().filter(|step| step.parse::<usize>().is_err()).map(String::as_str).collect();
        let count = seen.entry(kind.join("/")).or_default();
        *count += 1;
        *count <= EACH
    });
    let named =
        |way: &[String]| way.iter().rev().find(|step| step.parse::<usize>().is_err()).cloned().unwrap_or_default();
    ways.iter()
        .map(|way| Planted {
            place: format!("/{}", way.join("/")),
            field: named(way),
            bytes: serde_json::to_vec(&replaced(whole, way, plant)).unwrap(),
        })
        .collect()
}

/// The ways to all values but the whole: also into texts that are JSON themselves.
fn walk(value: &Value, way: &mut Vec<String>, ways: &mut Vec<Vec<String>>) {
    if !way.is_empty() {
        ways.push(way.clone());
    }
    let inner = inner(value);
    for (step, value) in children(inner.as_ref().unwrap_or(value)) {
        way.push(step);
        walk(value, way, ways);
        way.pop();
    }
}

fn inner(value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.starts_with('{'))?;
    serde_json::from_str(text).ok()
}

fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    }
}

fn replaced(value: &Value, way: &[String], plant: &str) -> Value {
    let Some((step, rest)) = way.split_first() else { return Value::from(plant) };
    if let Some(inner) = inner(value) {
        return Value::from(replaced(&inner, way, plant).to_string());
    }
    let mut changed = value.clone();
    let slot = match &mut changed {
        Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
        other => &mut other[step.as_str()],
    };
    *slot = replaced(slot, rest, plant);
    changed
}

/// A text in quotes, without characters that YAML refuses as they are.
pub fn yaml_text(text: &str) -> String {
    serde_json::to_string(text).unwrap().replace('\u{9b}', "\\u009b").replace('\u{7f}', "\\u007f")
}

/// The value after the colon of each line, as a text in quotes.
fn of_yaml(text: &str, plant: &str) -> Vec<Planted> {
    let lines: Vec<&str> = text.lines().collect();
    let valued = lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.split_once(": ")?)));
    valued
        .map(|(at, (key, _))| {
            let line = format!("{key}: {}", yaml_text(plant));
            Planted {
                place: format!("line {}", at + 1),
                field: key.trim_start_matches([' ', '-']).to_owned(),
                bytes: [&lines[..at], &[line.as_str()], &lines[at + 1..]].concat().join("\n").into_bytes(),
            }
        })
        .collect()
}
