//! Bodies with a `prompt` instead of messages (Ollama's `generate`, old completions, `InvokeModel` of Llama, Mistral
//! and Titan), and version 1 of Cohere's chat, translated so that the guard can compare two requests.
//!
//! Sources: Ollama, `docs/api.md`; Cohere API reference, chat v1; AWS, inference parameters of foundation models
//! (2026-09).

use super::super::value::Value;
use super::{Levels, Part, Translated, Turn, indexed, openrouter, push, text_block, text_form};

/// Keys with the newest text of such bodies.
const TEXTS: [&str; 3] = ["prompt", "inputText", "message"];

/// Whether a body has this spelling.
pub(crate) fn is_spelled(body: &Value) -> bool {
    TEXTS.iter().any(|key| body.get(key).is_some())
}

/// Translates a body; `model` may come from the address.
pub(crate) fn translate(body: &Value, model: &str) -> Translated {
    let keys = vec![("model".to_owned(), Value::text(model))];
    let mut prompt =
        Levels { tools: body.get("tools").map(|tools| openrouter::tools(tools, "tools")), ..Levels::default() };
    for key in ["system", "preamble", "template"] {
        prompt.system.extend(body.get(key).and_then(|value| part(value, key.to_owned())));
    }
    let mut turns = Vec::new();
    if let Some(history) = body.get("chat_history") {
        turns.extend(indexed(history.elements(), "chat_history").map(|(message, at)| said(message, at)));
    }
    turns.push(asked(body));
    prompt.messages = Some(turns);
    prompt.body(keys)
}

/// The newest turn, with the content before and beside its text.
fn asked(body: &Value) -> Turn {
    let mut content = Vec::new();
    let at = TEXTS.into_iter().find(|key| body.get(key).is_some()).unwrap_or_default();
    for key in ["context", "documents", "tool_results", at, "suffix", "images"] {
        match body.get(key) {
            Some(Value::List(elements)) if key != "context" => {
                content.extend(indexed(elements, key).filter_map(|(value, at)| part(value, at)));
            }
            found => content.extend(found.and_then(|value| part(value, key.to_owned()))),
        }
    }
    Turn::new("user", content, at.to_owned())
}

fn said(message: &Value, at: String) -> Turn {
    let role = match message.text_of("role") {
        Some("CHATBOT") => "assistant",
        Some("SYSTEM") => "system",
        _ => "user",
    };
    let mut content: Vec<Part> = message.get("message").and_then(|value| part(value, at.clone())).into_iter().collect();
    for key in ["tool_calls", "tool_results"] {
        let list = format!("{at}.{key}");
        let elements = message.at(key).elements();
        content.extend(indexed(elements, &list).filter_map(|(value, at)| part(value, at)));
    }
    Turn::new(role, content, at)
}

/// Null and an empty text are no block; other values keep their form.
fn part(value: &Value, at: String) -> Option<Part> {
    let value = match value {
        Value::Null => return None,
        Value::Text(text) if text.is_empty() => return None,
        Value::Text(_) => text_block(value.clone()),
        Value::Object(members) => {
            let mut block = vec![("type".to_owned(), Value::text("object"))];
            push(&mut block, "value", Some(Value::Object(members.clone())));
            Value::Object(block)
        }
        other => Value::object([("type", Value::text("list")), ("value", text_form(other))]),
    };
    Some(Part { value, at })
}
