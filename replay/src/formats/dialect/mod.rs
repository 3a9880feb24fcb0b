//! Requests in other spellings, translated into bodies of the Messages API: to Claude models for all that is done with
//! them, to `OpenAI` for the guard alone.
//!
//! What the Messages API has no place for is carried over under its own name, so that a change in it is still seen.
//! Sizes are unaffected: they come from recorded usage.

pub(crate) mod bedrock_converse;
pub(crate) mod openai;
pub(crate) mod openrouter;

use super::value::Value;

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Adds a member, where there is a value.
fn push(members: &mut Vec<(String, Value)>, key: &str, value: Option<Value>) {
    members.extend(value.map(|value| (key.to_owned(), value)));
}

/// Puts a marker on a block, with the lifetime that was asked for.
fn mark(block: &mut Value, ttl: Option<&Value>) {
    let mut marker = vec![("type".to_owned(), Value::text("ephemeral"))];
    push(&mut marker, "ttl", ttl.cloned());
    put(block, "cache_control", Value::Object(marker));
}

/// Sets a member, the last of its name.
fn put(target: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = target {
        members.retain(|(name, _)| name != key);
        members.push((key.to_owned(), value));
    }
}

fn text_block(text: Value) -> Value {
    object([("type", Value::text("text")), ("text", text)])
}

/// `data` is base64 text, or bytes that a recorder unpacked.
fn base64_source(media_type: String, data: Value) -> Value {
    object([("type", Value::text("base64")), ("media_type", Value::Text(media_type)), ("data", data)])
}

fn text_form(value: &Value) -> Value {
    match value {
        Value::Text(_) => value.clone(),
        other => Value::text(String::from_utf8_lossy(&other.to_json())),
    }
}
