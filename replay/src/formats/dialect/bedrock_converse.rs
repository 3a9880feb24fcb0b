//! Bedrock Converse. Source: AWS API reference, `Converse`, `ContentBlock`, `CachePointBlock` (2026-09).
//!
//! A `cachePoint` is an element of its own; it marks the block before it.

use super::super::value::Value;
use super::{base64_source, mark, object, push, put, text_block, text_form};

/// Translates a Converse body; `model` comes from the address.
pub(crate) fn translate(body: &Value, model: &str) -> Value {
    let mut out = vec![("model".to_owned(), Value::text(model))];
    for (key, value) in body.members() {
        match key.as_str() {
            "system" => push(&mut out, "system", Some(Value::List(blocks(value)))),
            "messages" => push(&mut out, "messages", Some(Value::List(value.elements().iter().map(message).collect()))),
            "toolConfig" => tools(value, &mut out),
            "inferenceConfig" => out.extend(value.members().iter().map(sampling)),
            "additionalModelRequestFields" => out.extend(value.members().iter().cloned()),
            _ => out.push((key.clone(), value.clone())),
        }
    }
    Value::Object(out)
}

fn sampling((key, value): &(String, Value)) -> (String, Value) {
    let name = match key.as_str() {
        "maxTokens" => "max_tokens",
        "topP" => "top_p",
        "stopSequences" => "stop_sequences",
        other => other,
    };
    (name.to_owned(), value.clone())
}

fn message(message: &Value) -> Value {
    let content = message.get("content").map(blocks).unwrap_or_default();
    object([("role", message.get("role").cloned().unwrap_or(Value::Null)), ("content", Value::List(content))])
}

/// Blocks with markers in place of the cache points behind them. A cache point with nothing before it marks nothing.
fn blocks(list: &Value) -> Vec<Value> {
    fold_cache_points(list.elements(), block)
}

fn fold_cache_points(elements: &[Value], translate: fn(&Value) -> Value) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for element in elements {
        match (element.get("cachePoint"), out.last_mut()) {
            (Some(point), Some(before)) => mark(before, point.get("ttl")),
            (Some(_), None) => {}
            (None, _) => out.push(translate(element)),
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
        "toolUse" => object([
            ("type", Value::text("tool_use")),
            ("id", member(value, "toolUseId")),
            ("name", member(value, "name")),
            ("input", member(value, "input")),
        ]),
        "toolResult" => tool_result(value),
        "reasoningContent" => reasoning(value),
        _ => object([("type", Value::text(kind)), ("value", value.clone())]),
    }
}

fn member(value: &Value, key: &str) -> Value {
    value.get(key).cloned().unwrap_or(Value::Null)
}

fn tool_result(value: &Value) -> Value {
    let content = value.get("content").map(blocks).unwrap_or_default();
    let mut out = object([
        ("type", Value::text("tool_result")),
        ("tool_use_id", member(value, "toolUseId")),
        ("content", Value::List(content)),
    ]);
    if value.text_of("status") == Some("error") {
        put(&mut out, "is_error", Value::Bool(true));
    }
    out
}

fn reasoning(value: &Value) -> Value {
    if let Some(redacted) = value.get("redactedContent") {
        return object([("type", Value::text("redacted_thinking")), ("data", redacted.clone())]);
    }
    let text = member(value, "reasoningText");
    object([
        ("type", Value::text("thinking")),
        ("thinking", member(&text, "text")),
        ("signature", member(&text, "signature")),
    ])
}

fn media(kind: &str, family: &str, value: &Value) -> Value {
    let format = value.text_of("format").unwrap_or_default();
    let source = member(value, "source");
    let source = match source.get("bytes") {
        Some(data) => base64_source(format!("{family}/{format}"), data.clone()),
        None => source,
    };
    object([("type", Value::text(kind)), ("source", source)])
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

fn tools(config: &Value, out: &mut Vec<(String, Value)>) {
    let tools = config.get("tools").map(|tools| fold_cache_points(tools.elements(), tool));
    push(out, "tools", tools.map(Value::List));
    push(out, "tool_choice", config.get("toolChoice").map(tool_choice));
}

fn tool(element: &Value) -> Value {
    let Some(spec) = element.get("toolSpec") else { return element.clone() };
    let mut out = vec![("name".to_owned(), member(spec, "name"))];
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
