//! `OpenRouter` chat completions for Claude models. Source: `OpenRouter` docs, prompt caching and tool calling
//! (2026-09): `cache_control` is in content parts and on tools and is passed on to the model.

use super::super::value::Value;
use super::{Levels, Part, Translated, Turn, base64_source, indexed, push, put, text_block, text_form};

/// Translates a chat completion body.
pub(crate) fn translate(body: &Value) -> Translated {
    let (mut keys, mut prompt) = (Vec::new(), Levels::default());
    for (key, value) in body.members() {
        match key.as_str() {
            "messages" => conversation(value.elements(), &mut prompt),
            "tools" => prompt.tools = Some(tools(value, "tools")),
            "tool_choice" => push(&mut keys, "tool_choice", Some(tool_choice(value))),
            "max_completion_tokens" => push(&mut keys, "max_tokens", Some(value.clone())),
            "stop" => push(&mut keys, "stop_sequences", Some(value.clone())),
            _ => keys.push((key.clone(), value.clone())),
        }
    }
    prompt.body(keys)
}

/// Leading system messages become the system prompt, later ones stay in place; runs of tool messages become one user
/// message, because the Messages API requires the results of one answer together.
fn conversation(messages: &[Value], prompt: &mut Levels) {
    let is_system = |message: &Value| matches!(message.text_of("role"), Some("system" | "developer"));
    let mut turns: Vec<Turn> = Vec::new();
    let (mut leads, mut in_results) = (true, false);
    for (message, at) in indexed(messages, "messages") {
        leads &= is_system(message);
        if leads {
            prompt.system.extend(parts(message, &at));
            continue;
        }
        let is_result = message.text_of("role") == Some("tool");
        match (is_result && in_results, turns.last_mut()) {
            (true, Some(turn)) => turn.content.push(tool_result(message, &at)),
            _ => turns.push(turn(message, at)),
        }
        in_results = is_result;
    }
    prompt.messages = Some(turns);
}

pub(super) fn turn(message: &Value, at: String) -> Turn {
    let (role, content) = match message.text_of("role") {
        Some("tool") => ("user", vec![tool_result(message, &at)]),
        Some("assistant") => ("assistant", assistant(message, &at)),
        Some("developer") => ("system", parts(message, &at)),
        other => (other.unwrap_or("user"), parts(message, &at)),
    };
    Turn::new(role, content, at)
}

fn assistant(message: &Value, at: &str) -> Vec<Part> {
    let list = |key: &str, translate: fn(&Value) -> Value| -> Vec<Part> {
        let elements = message.at(key).elements();
        let at = format!("{at}.{key}");
        indexed(elements, &at).map(|(element, at)| Part { value: translate(element), at }).collect()
    };
    let mut content = list("reasoning_details", thinking);
    content.extend(parts(message, at));
    content.extend(list("tool_calls", tool_use));
    content
}

fn thinking(detail: &Value) -> Value {
    match detail.text_of("type") {
        Some("reasoning.text") => {
            let mut block = Value::object([("type", Value::text("thinking")), ("thinking", detail.at("text").clone())]);
            if let Some(signature) = detail.get("signature") {
                put(&mut block, "signature", signature.clone());
            }
            block
        }
        Some("reasoning.encrypted") => {
            Value::object([("type", Value::text("redacted_thinking")), ("data", detail.at("data").clone())])
        }
        _ => detail.clone(),
    }
}

fn tool_use(call: &Value) -> Value {
    let function = call.at("function");
    let arguments = function.at("arguments");
    let parsed = arguments.as_text().and_then(|text| Value::from_json(text.as_bytes()).ok());
    Value::object([
        ("type", Value::text("tool_use")),
        ("id", call.at("id").clone()),
        ("name", function.at("name").clone()),
        ("input", parsed.unwrap_or_else(|| arguments.clone())),
    ])
}

/// A marker on a part of the result marks the result, because there can be no breakpoint inside it.
fn tool_result(message: &Value, at: &str) -> Part {
    let parts = parts(message, at);
    let at = match parts.as_slice() {
        [only] => only.at.clone(),
        _ => at.to_owned(),
    };
    let mut content: Vec<Value> = parts.into_iter().map(|part| part.value).collect();
    let mut marker = None;
    for part in &mut content {
        if let Value::Object(members) = part {
            marker = members.iter().find(|(key, _)| key == "cache_control").cloned().or(marker);
            members.retain(|(key, _)| key != "cache_control");
        }
    }
    let mut value = Value::object([
        ("type", Value::text("tool_result")),
        ("tool_use_id", message.at("tool_call_id").clone()),
        ("content", Value::List(content)),
    ]);
    if let Some((key, marker)) = marker {
        put(&mut value, &key, marker);
    }
    Part { value, at }
}

/// The content of a message as blocks; an empty string or null is no block.
fn parts(message: &Value, at: &str) -> Vec<Part> {
    let at = format!("{at}.content");
    match message.get("content") {
        Some(Value::Text(text)) if !text.is_empty() => {
            vec![Part { value: text_block(Value::text(text)), at: format!("{at}[0]") }]
        }
        Some(Value::List(parts)) => indexed(parts, &at).map(|(found, at)| Part { value: part(found), at }).collect(),
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Value {
    let mut block = match part.text_of("type") {
        Some("text") => text_block(part.at("text").clone()),
        Some("image_url") => media("image", part.at("image_url").at("url")),
        Some("file") => file(part.at("file")),
        _ => return part.clone(),
    };
    if let Some(marker) = part.get("cache_control") {
        put(&mut block, "cache_control", marker.clone());
    }
    block
}

fn file(file: &Value) -> Value {
    let mut block = media("document", file.at("file_data"));
    if let Some(name) = file.get("filename") {
        put(&mut block, "title", name.clone());
    }
    block
}

/// `data:image/png;base64,…` or an address.
fn media(kind: &str, url: &Value) -> Value {
    let inline = url.as_text().and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    let source = match inline {
        Some((media_type, data)) => base64_source(media_type.to_owned(), Value::text(data)),
        None => Value::object([("type", Value::text("url")), ("url", url.clone())]),
    };
    Value::object([("type", Value::text(kind)), ("source", source)])
}

/// The tools of a list at `at`.
pub(super) fn tools(list: &Value, at: &str) -> Vec<Part> {
    indexed(list.elements(), at).map(|(found, at)| Part { value: tool(found), at }).collect()
}

fn tool(tool: &Value) -> Value {
    let Some(function) = tool.get("function") else { return tool.clone() };
    let mut out = Vec::new();
    for (key, value) in function.members() {
        let name = if key == "parameters" { "input_schema" } else { key };
        out.push((name.to_owned(), value.clone()));
    }
    push(&mut out, "cache_control", tool.get("cache_control").cloned());
    Value::Object(out)
}

fn tool_choice(choice: &Value) -> Value {
    match choice.as_text() {
        Some("required") => Value::object([("type", Value::text("any"))]),
        Some(word) => Value::object([("type", Value::text(word))]),
        None => match choice.get("function") {
            Some(function) => Value::object([("type", Value::text("tool")), ("name", text_form(function.at("name")))]),
            None => choice.clone(),
        },
    }
}
