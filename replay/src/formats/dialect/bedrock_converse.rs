//! Bedrock Converse. Source: AWS API reference, `Converse`, `ContentBlock`, `CachePointBlock` (2026-09).
//!
//! A `cachePoint` is a separate element; it marks the block before it.

use super::super::value::Value;
use super::{Levels, Part, Translated, Turn, base64_source, indexed, mark, push, put, text_block, text_form};

/// Keys that no other body has.
pub(crate) const KEYS: [&str; 3] = ["toolConfig", "inferenceConfig", "modelId"];

/// Whether a body has this spelling.
pub(super) fn is_spelled(body: &Value) -> bool {
    KEYS.iter().any(|key| body.get(key).is_some())
}

/// Translates a Converse body; `model` comes from the address.
pub(crate) fn translate(body: &Value, model: &str) -> Translated {
    let (mut keys, mut prompt) = (vec![("model".to_owned(), Value::text(model))], Levels::default());
    let mut settings = Vec::new();
    let mut setting = |name: &str, value: &Value, path: String| {
        settings.push((name.to_owned(), path));
        keys.push((name.to_owned(), value.clone()));
    };
    for (key, value) in body.members() {
        let members = value.members().iter().map(|(name, value)| (name, value, format!("{key}.{name}")));
        match key.as_str() {
            "system" => prompt.system = blocks(value, "system"),
            "messages" => {
                let turns = indexed(value.elements(), "messages").map(|(message, at)| turn(message, at));
                prompt.messages = Some(turns.collect());
            }
            "toolConfig" => {
                prompt.tools =
                    value.get("tools").map(|tools| fold_cache_points(tools.elements(), "toolConfig.tools", tool));
                if let Some(choice) = value.get("toolChoice") {
                    setting("tool_choice", &tool_choice(choice), "toolConfig.toolChoice".to_owned());
                }
            }
            "inferenceConfig" => members.for_each(|(name, value, path)| setting(sampling(name), value, path)),
            "additionalModelRequestFields" => members.for_each(|(name, value, path)| setting(name, value, path)),
            _ => setting(key, value, key.clone()),
        }
    }
    let mut translated = prompt.body(keys);
    settings.into_iter().for_each(|(name, path)| translated.addresses.note_setting(name, path));
    translated
}

fn sampling(key: &str) -> &str {
    match key {
        "maxTokens" => "max_tokens",
        "topP" => "top_p",
        "stopSequences" => "stop_sequences",
        other => other,
    }
}

fn turn(message: &Value, at: String) -> Turn {
    let list = format!("{at}.content");
    let content = message.get("content").map(|content| said(content, &list)).unwrap_or_default();
    Turn { role: message.at("role").clone(), keys: Vec::new(), content, at }
}

/// The content of a message. A cache point at its beginning, which the service refuses, marks an empty text: Messages has the
/// same error for it.
fn said(list: &Value, at: &str) -> Vec<Part> {
    let mut content = blocks(list, at);
    if let Some(point) = list.elements().first().and_then(|first| first.get("cachePoint")) {
        let mut nothing = text_block(Value::text(""));
        mark(&mut nothing, point.get("ttl"));
        content.insert(0, Part { value: nothing, at: format!("{at}[0]") });
    }
    content
}

/// Blocks with markers instead of the cache points after them. Elsewhere a cache point with nothing before it marks nothing.
fn blocks(list: &Value, at: &str) -> Vec<Part> {
    fold_cache_points(list.elements(), at, block)
}

fn fold_cache_points(elements: &[Value], at: &str, translate: fn(&Value) -> Value) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for (element, at) in indexed(elements, at) {
        match (element.get("cachePoint"), out.last_mut()) {
            (Some(point), Some(before)) => mark(&mut before.value, point.get("ttl")),
            (Some(_), None) => {}
            (None, _) => out.push(Part { value: translate(element), at }),
        }
    }
    out
}

fn block(element: &Value) -> Value {
    let Some((kind, value)) = element.members().first() else { return element.clone() };
    match kind.as_str() {
        "text" => text_block(value.clone()),
        "json" => text_block(text_form(value)),
        "image" => media("image", "image", value),
        "document" => document(value),
        "toolUse" => Value::object([
            ("type", Value::text("tool_use")),
            ("id", value.at("toolUseId").clone()),
            ("name", value.at("name").clone()),
            ("input", value.at("input").clone()),
        ]),
        "toolResult" => tool_result(value),
        "reasoningContent" => reasoning(value),
        _ => Value::object([("type", Value::text(kind)), ("value", value.clone())]),
    }
}

fn tool_result(value: &Value) -> Value {
    let content = value.get("content").map(|content| blocks(content, "")).unwrap_or_default();
    let content = content.into_iter().map(|part| part.value).collect();
    let mut out = Value::object([
        ("type", Value::text("tool_result")),
        ("tool_use_id", value.at("toolUseId").clone()),
        ("content", Value::List(content)),
    ]);
    if value.text_of("status") == Some("error") {
        put(&mut out, "is_error", Value::Bool(true));
    }
    out
}

fn reasoning(value: &Value) -> Value {
    if let Some(redacted) = value.get("redactedContent") {
        return Value::object([("type", Value::text("redacted_thinking")), ("data", redacted.clone())]);
    }
    let text = value.at("reasoningText");
    Value::object([
        ("type", Value::text("thinking")),
        ("thinking", text.at("text").clone()),
        ("signature", text.at("signature").clone()),
    ])
}

fn media(kind: &str, family: &str, value: &Value) -> Value {
    let format = value.text_of("format").unwrap_or_default();
    let source = value.at("source");
    let source = match source.get("bytes") {
        Some(data) => base64_source(format!("{family}/{format}"), data.clone()),
        None => source.clone(),
    };
    Value::object([("type", Value::text(kind)), ("source", source)])
}

fn document(value: &Value) -> Value {
    let mut out = media("document", "application", value);
    push_title(&mut out, value.get("name"));
    out
}

fn push_title(block: &mut Value, name: Option<&Value>) {
    if let Some(name) = name {
        put(block, "title", name.clone());
    }
}

fn tool(element: &Value) -> Value {
    let Some(spec) = element.get("toolSpec") else { return element.clone() };
    let mut out = vec![("name".to_owned(), spec.at("name").clone())];
    push(&mut out, "description", spec.get("description").cloned());
    push(&mut out, "input_schema", spec.get("inputSchema").map(|schema| schema.get("json").unwrap_or(schema).clone()));
    out.extend(spec.members().iter().filter(|(key, _)| key == "strict").cloned());
    Value::Object(out)
}

/// `{auto: {}}`, `{any: {}}` or `{tool: {name}}`.
fn tool_choice(choice: &Value) -> Value {
    let Some((kind, value)) = choice.members().first() else { return choice.clone() };
    let mut out = vec![("type".to_owned(), Value::text(kind))];
    out.extend(value.members().iter().cloned());
    Value::Object(out)
}
