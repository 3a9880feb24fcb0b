//! The content that a thinking block is bound to, in its normal form: what the check ignores is left out.
//!
//! Source of each rule: `providers-2026-11.md` A.1. Besides those, the address of an image or a document is left out,
//! because the check compares the bytes at it, which no request holds.

use serde_json::{Map, Value};

use crate::wire::{BlockKind, Role};

/// The normal form of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Normal {
    /// Digest of role and content.
    pub digest: u128,
    /// Names of the tools that it refers to: a tool with deferred loading counts from there on.
    pub referred: Vec<String>,
}

/// Tool members whose value means the same as none.
const TOOL_DEFAULTS: [(&str, &str); 5] = [
    ("type", r#""custom""#),
    ("description", r#""""#),
    ("strict", "false"),
    ("eager_input_streaming", "false"),
    ("allowed_callers", r#"["direct"]"#),
];

/// The normal form of a block with these canonical bytes; `None` for a text of white space alone.
pub(super) fn normal(bytes: &[u8], kind: BlockKind, role: Role) -> Option<Normal> {
    // Deeper nesting than the parser accepts is compared as it is spelled.
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return Some(Normal { digest: digest(role, bytes), referred: Vec::new() });
    };
    let mut referred = Vec::new();
    references(&value, &mut referred);
    let value = match kind {
        BlockKind::Tool => tool(value),
        _ => block(value)?,
    };
    let mut spelled = Vec::with_capacity(bytes.len());
    spell(&value, &mut spelled);
    Some(Normal { digest: digest(role, &spelled), referred })
}

/// The normal form of a tool definition with these canonical bytes.
pub(super) fn of_tool(bytes: &[u8]) -> Option<Normal> {
    normal(bytes, BlockKind::Tool, Role::None)
}

/// The name under which the check keeps a tool.
pub(super) fn tool_key(bytes: &[u8]) -> String {
    let tool: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let word = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    match word("type").as_str() {
        "" | "custom" => word("name"),
        "mcp_toolset" => format!("mcp_toolset {}", word("mcp_server_name")),
        server_tool => format!("{server_tool} {}", word("name")),
    }
}

/// Digest of content of `role`.
pub(super) fn digest(role: Role, bytes: &[u8]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[role as u8]);
    hasher.update(bytes);
    let mut digest = [0; 16];
    hasher.finalize_xof().fill(&mut digest);
    u128::from_le_bytes(digest)
}

fn tool(value: Value) -> Value {
    let Value::Object(mut members) = value else { return value };
    for (name, default) in TOOL_DEFAULTS {
        let default: Option<Value> = serde_json::from_str(default).ok();
        if members.get(name) == default.as_ref() {
            members.remove(name);
        }
    }
    members.remove("cache_control");
    members.remove("defer_loading");
    Value::Object(members)
}

/// A content block, and the blocks within it.
fn block(value: Value) -> Option<Value> {
    let mut members = match value {
        Value::Object(members) => members,
        Value::String(text) => text_block(&text),
        other => return Some(other),
    };
    members.remove("cache_control");
    if members.get("type").is_some_and(|kind| kind == "text") {
        let text = members.get("text").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        if text.is_empty() {
            return None;
        }
        members.insert("text".to_owned(), Value::String(text));
    }
    let absent = |members: &Map<String, Value>, name: &str, default: &Value| members.get(name) == Some(default);
    if absent(&members, "is_error", &Value::Bool(false)) {
        members.remove("is_error");
    }
    if absent(&members, "citations", &Value::Array(Vec::new())) {
        members.remove("citations");
    }
    if let Some(source) = members.get_mut("source").and_then(Value::as_object_mut)
        && source.get("type").is_some_and(|kind| kind == "url")
    {
        source.remove("url");
    }
    match members.remove("content") {
        Some(Value::Array(parts)) => {
            members.insert("content".to_owned(), parts.into_iter().filter_map(block).collect());
        }
        Some(Value::String(text)) => {
            let parts: Vec<Value> = block(Value::Object(text_block(&text))).into_iter().collect();
            members.insert("content".to_owned(), Value::Array(parts));
        }
        Some(other) => {
            members.insert("content".to_owned(), other);
        }
        None => {}
    }
    Some(Value::Object(members))
}

fn text_block(text: &str) -> Map<String, Value> {
    let text = ("text".to_owned(), Value::String(text.to_owned()));
    [("type".to_owned(), Value::String("text".to_owned())), text].into_iter().collect()
}

/// Names in `tool_reference` blocks at any depth.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == "tool_reference") {
                found.extend(members.get("tool_name").and_then(Value::as_str).map(str::to_owned));
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(elements) => elements.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// Writes a value with sorted keys, without null members, and whole numbers without a point.
fn spell(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().filter(|(_, value)| !value.is_null()).collect();
            members.sort_by_key(|(name, _)| name.as_str());
            bytes.push(b'{');
            for (name, value) in members {
                bytes.extend_from_slice(Value::String(name.clone()).to_string().as_bytes());
                bytes.push(b':');
                spell(value, bytes);
                bytes.push(b',');
            }
            bytes.push(b'}');
        }
        Value::Array(elements) => {
            bytes.push(b'[');
            for element in elements {
                spell(element, bytes);
                bytes.push(b',');
            }
            bytes.push(b']');
        }
        Value::Number(number) => {
            let text = number.to_string();
            bytes.extend_from_slice(text.strip_suffix(".0").unwrap_or(&text).as_bytes());
        }
        other => bytes.extend_from_slice(other.to_string().as_bytes()),
    }
}
