//! `generateContent` of Gemini and Vertex, translated so that the guard can compare two requests.
//!
//! Source: Gemini API reference, `generateContent`, `Content`, `Part`, `Tool` (ai.google.dev, 2026-09). Names of
//! members may be in camel case or snake case there, as in all of Google's APIs. Google documents that its cache keeps
//! prefixes, but not what is part of their identity: of the settings only `cachedContent`, which names a prefix, is
//! assumed to be.

use forkcast_sim::wire::TRANSLATED_SETTINGS;

use super::super::value::Value;
use super::{Levels, Part, Translated, Turn, base64_source, indexed, note_starts, push, put, text_block, text_form};

/// Whether a body has this spelling.
pub(crate) fn is_spelled(body: &Value) -> bool {
    body.get("contents").or_else(|| body.get("request")?.get("contents")).is_some()
}

/// Translates a body, or one that Code Assist wraps in `request`; `model` comes from the address.
pub(crate) fn translate(body: &Value, model: &str) -> Translated {
    let (body, at) = match (body.get("contents"), body.get("request")) {
        (None, Some(request)) => (request, "request."),
        _ => (body, ""),
    };
    let mut settings = Vec::new();
    push(&mut settings, "cachedContent", either(body, "cachedContent").filter(|name| **name != Value::Null).cloned());
    let keys =
        vec![("model".to_owned(), Value::text(model)), (TRANSLATED_SETTINGS.to_owned(), Value::Object(settings))];
    let system = spelling(body, "systemInstruction");
    let mut prompt = Levels {
        tools: body.get("tools").map(|tools| declared(tools.elements(), &format!("{at}tools"))),
        system: body.get(&system).map(|found| parts(found, &format!("{at}{system}"))).unwrap_or_default(),
        messages: None,
    };
    let list = format!("{at}contents");
    prompt.messages = body.get("contents").map(|contents| match contents {
        Value::List(contents) => indexed(contents, &list).map(|(content, at)| turn(content, at)).collect(),
        alone => vec![turn(alone, list.clone())],
    });
    let spoken = body.get("contents").map_or(&[][..], Value::elements);
    let speaker = |content| if is_models(content) { "model" } else { "user" };
    prompt
        .messages
        .iter_mut()
        .for_each(|turns| note_starts(turns, spoken.iter().map(|content| Some(speaker(content)))));
    prompt.body(keys)
}

/// The spelling of a member in this object.
fn spelling(value: &Value, camel: &str) -> String {
    if value.get(camel).is_some() {
        return camel.to_owned();
    }
    let mut snake = String::new();
    for letter in camel.chars() {
        match letter.is_ascii_uppercase() {
            true => snake.extend(['_', letter.to_ascii_lowercase()]),
            false => snake.push(letter),
        }
    }
    snake
}

fn either<'a>(value: &'a Value, camel: &str) -> Option<&'a Value> {
    value.get(&spelling(value, camel))
}

/// Each declared function is a tool; a tool that the provider runs itself is one with its own name.
fn declared(tools: &[Value], at: &str) -> Vec<Part> {
    let mut out = Vec::new();
    for (tool, at) in indexed(tools, at) {
        for (key, value) in tool.members() {
            match key.as_str() {
                "functionDeclarations" | "function_declarations" => {
                    let list = format!("{at}.{key}");
                    let functions = indexed(value.elements(), &list);
                    out.extend(functions.map(|(value, at)| Part { value: function(value), at }));
                }
                _ => out.push(Part { value: own_tool(key, value), at: at.clone() }),
            }
        }
    }
    out
}

fn function(declaration: &Value) -> Value {
    let members = declaration.members().iter().map(|(key, value)| {
        let name = if key == "parameters" { "input_schema" } else { key };
        (name.to_owned(), value.clone())
    });
    Value::Object(members.collect())
}

fn own_tool(key: &str, value: &Value) -> Value {
    Value::object([("type", Value::text(key)), ("name", Value::text(key)), (key, value.clone())])
}

fn turn(content: &Value, at: String) -> Turn {
    Turn::new(if is_models(content) { "assistant" } else { "user" }, parts(content, &at), at)
}

fn is_models(content: &Value) -> bool {
    content.text_of("role") == Some("model")
}

/// The parts of a content; a bare text is one part.
fn parts(content: &Value, at: &str) -> Vec<Part> {
    if let Value::Text(text) = content {
        return vec![Part { value: text_block(Value::text(text)), at: at.to_owned() }];
    }
    let at = format!("{at}.parts");
    match content.get("parts") {
        Some(Value::List(parts)) => indexed(parts, &at).map(|(found, at)| Part { value: part(found), at }).collect(),
        Some(alone) => vec![Part { value: part(alone), at }],
        None => Vec::new(),
    }
}

/// One member of a part determines its kind; the others (`thought`, `thoughtSignature`) belong to it.
fn part(part: &Value) -> Value {
    let mut block = None;
    for (key, value) in part.members() {
        let known = match key.as_str() {
            "text" => text_block(value.clone()),
            "functionCall" | "function_call" => call(value),
            "functionResponse" | "function_response" => result(value),
            "inlineData" | "inline_data" => {
                media(value, |kind| base64_source(kind.to_owned(), value.at("data").clone()))
            }
            "fileData" | "file_data" => media(value, |_| {
                let url = either(value, "fileUri").cloned().unwrap_or(Value::Null);
                Value::object([("type", Value::text("url")), ("url", url)])
            }),
            _ => continue,
        };
        block = Some((key, known));
        break;
    }
    let Some((kind, mut block)) = block else {
        let kind = part.members().first().map_or("empty", |(key, _)| key);
        return Value::object([("type", Value::text(kind)), ("value", part.clone())]);
    };
    for (key, value) in part.members().iter().filter(|(key, _)| key != kind) {
        put(&mut block, key, value.clone());
    }
    if kind == "text" && part.get("thought") == Some(&Value::Bool(true)) {
        put(&mut block, "type", Value::text("reasoning"));
    }
    block
}

fn call(call: &Value) -> Value {
    Value::object([
        ("type", Value::text("tool_use")),
        ("id", call.at("id").clone()),
        ("name", call.at("name").clone()),
        ("input", call.get("args").cloned().unwrap_or_else(|| Value::Object(Vec::new()))),
    ])
}

/// Results belong to calls by name if calls have no ids.
fn result(result: &Value) -> Value {
    Value::object([
        ("type", Value::text("tool_result")),
        ("tool_use_id", result.at("id").clone()),
        ("name", result.at("name").clone()),
        ("content", text_form(result.at("response"))),
    ])
}

fn media(value: &Value, source: impl FnOnce(&str) -> Value) -> Value {
    let media_type = either(value, "mimeType").and_then(Value::as_text).unwrap_or_default();
    let kind = if media_type.starts_with("image/") { "image" } else { "document" };
    Value::object([("type", Value::text(kind)), ("source", source(media_type))])
}
