//! Usage objects from the text of a cassette, without our readers: the text is cut at its interactions, escapes and
//! folds are removed, and the text after the word `usage` is taken.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// One interaction as the text shows it.
pub struct Interaction {
    /// The first line of its address.
    pub uri: String,
    /// Its usage; of a stream, which repeats it, the last of each count.
    pub usage: Option<Value>,
    /// How many usage objects it has.
    pub objects: usize,
}

/// Cuts a cassette.
pub fn interactions(bytes: &[u8]) -> Vec<Interaction> {
    let text = String::from_utf8_lossy(&gunzipped(bytes)).replace("\r\n", "\n");
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_start() == "- request:" {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts.iter().map(|part| interaction(part)).collect()
}

fn gunzipped(bytes: &[u8]) -> Vec<u8> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.to_vec();
    }
    let mut out = Vec::new();
    // A recorder may cut the trailer off: what came out is taken.
    drop(flate2::read::GzDecoder::new(bytes).read_to_end(&mut out));
    out
}

fn interaction(part: &str) -> Interaction {
    let uri = part.lines().find_map(|line| line.trim_start().strip_prefix("uri: ")).unwrap_or_default();
    let response = part.split_once("  response:\n").map_or("", |(_, response)| response);
    let mut found = in_json(&without_folds(&unpacked(response)));
    found.extend(in_yaml(response));
    let objects = found.len();
    let usage = found.into_iter().reduce(|mut sum, next| {
        overwrite(&mut sum, next);
        sum
    });
    Interaction { uri: uri.trim_matches(['"', '\'']).to_owned(), usage, objects }
}

/// Blocks in base64 in clear, unzipped.
fn unpacked(response: &str) -> String {
    let mut out = String::new();
    let mut lines = response.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if !(line.contains("!!binary |") || line.contains("!binary |") || line.contains("base64_string: |")) {
            continue;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut packed = String::new();
        while let Some(next) = lines.next_if(|next| indent(next) > indent(line)) {
            packed.push_str(next.trim());
        }
        out.push_str(&String::from_utf8_lossy(&gunzipped(&STANDARD.decode(packed).unwrap_or_default())));
        out.push('\n');
    }
    out
}

/// Quotes without their escapes, and no white space at all.
fn without_folds(text: &str) -> String {
    let text = text.replace("\\\n", "").replace("\\\"", "\"").replace("\\ ", "").replace("\\n", "");
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn in_json(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for name in ["\"usage\":{", "\"usageMetadata\":{"] {
        for (at, _) in text.match_indices(name) {
            let object = &text[at + name.len() - 1..];
            let mut depth = 0;
            let end = object.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '{') - i32::from(*c == '}');
                depth == 0
            });
            let end = end.map_or(object.len(), |(end, _)| end + 1);
            found.extend(serde_json::from_str::<Value>(&object[..end]).ok().map(|value| (at, value)));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, value)| value).collect()
}

type Line<'a> = (usize, &'a str);

/// Bodies that a recorder parsed and wrote as YAML.
fn in_yaml(response: &str) -> Vec<Value> {
    let lines: Vec<Line<'_>> =
        response.lines().map(|line| (line.len() - line.trim_start().len(), line.trim())).collect();
    let heads = lines.iter().enumerate().filter(|(_, (_, line))| matches!(*line, "usage:" | "usageMetadata:"));
    heads.map(|(at, (indent, _))| map(below(&lines[at + 1..], *indent))).collect()
}

/// The lines that belong to a key at `indent`; lists may begin directly under it.
fn below<'a, 'b>(lines: &'a [Line<'b>], indent: usize) -> &'a [Line<'b>] {
    let end = lines.iter().position(|(own, line)| *own < indent || *own == indent && !line.starts_with("- "));
    &lines[..end.unwrap_or(lines.len())]
}

fn map(lines: &[Line<'_>]) -> Value {
    let Some((indent, first)) = lines.first() else { return Value::Null };
    if first.starts_with("- ") {
        let starts: Vec<usize> =
            (0..lines.len()).filter(|i| lines[*i].0 == *indent && lines[*i].1.starts_with("- ")).collect();
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let items = starts.iter().zip(ends).map(|(start, end)| {
            let mut item = lines[*start..end].to_vec();
            item[0] = (indent + 2, item[0].1.trim_start_matches("- "));
            map(&item)
        });
        return Value::Array(items.collect());
    }
    let mut out = Map::new();
    for (at, (own, line)) in lines.iter().enumerate().filter(|(_, (own, _))| own == indent) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = match value.trim() {
            "" => map(below(&lines[at + 1..], *own)),
            "null" => Value::Null,
            number if number.parse::<u64>().is_ok() => json!(number.parse::<u64>().unwrap()),
            number if number.parse::<f64>().is_ok() => json!(number.parse::<f64>().unwrap()),
            word => json!(word.trim_matches('\'')),
        };
        out.insert(key.to_owned(), value);
    }
    Value::Object(out)
}

fn overwrite(sum: &mut Value, next: Value) {
    match (sum, next) {
        (Value::Object(sum), Value::Object(next)) => {
            for (key, value) in next.into_iter().filter(|(_, value)| !value.is_null()) {
                overwrite(sum.entry(key).or_insert(Value::Null), value);
            }
        }
        (sum, next) => *sum = next,
    }
}
