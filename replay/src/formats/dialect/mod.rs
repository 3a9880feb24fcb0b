//! Requests in other spellings, translated into bodies of the Messages API: those to Claude models for all uses, those
//! to others only for the guard.
//!
//! Each part keeps its path in the body that was sent, so that messages name places that users know. Members without an
//! equivalent in the Messages API are kept under their own names, so that changes in them are still seen. Sizes are
//! unaffected: they come from recorded usage.

pub(crate) mod bedrock_converse;
mod gemini;
mod openai;
pub(crate) mod openrouter;
pub(crate) mod others;
mod plain;

use forkcast_sim::wire::{Addresses, Level, MESSAGE_START, Place};

use super::text::json_reason;
use super::value::Value;
use crate::exchange::Dialect;

/// A body in the spelling of the Messages API.
#[derive(Clone, Debug)]
pub(crate) struct Translated {
    /// The body.
    pub body: Value,
    /// The original places of its parts.
    pub addresses: Addresses,
}

/// Translates the body of a request to a Claude model; `None` if it is already in the spelling of the Messages API.
///
/// # Errors
/// When it is not JSON.
pub(crate) fn translate(dialect: Dialect, body: &[u8], model: &str) -> Result<Option<Translated>, String> {
    let parsed = || Value::from_json(body).map_err(|error| format!("request body: {}", json_reason(&error)));
    Ok(match dialect {
        Dialect::BedrockConverse => Some(bedrock_converse::translate(&parsed()?, model)),
        Dialect::OpenRouter => Some(openrouter::translate(&parsed()?)),
        _ => None,
    })
}

/// A tool or a block, and its path in the body that was sent.
struct Part {
    value: Value,
    at: String,
}

/// A message, and its path in the body that was sent.
struct Turn {
    role: Value,
    /// Its members that are no content.
    keys: Vec<(String, Value)>,
    content: Vec<Part>,
    at: String,
}

impl Turn {
    fn new(role: &str, content: Vec<Part>, at: String) -> Self {
        Self { role: Value::text(role), keys: Vec::new(), content, at }
    }
}

/// A prompt in the spelling of the Messages API.
#[derive(Default)]
struct Levels {
    tools: Option<Vec<Part>>,
    system: Vec<Part>,
    messages: Option<Vec<Turn>>,
}

impl Levels {
    /// The body with these other keys.
    fn body(self, mut keys: Vec<(String, Value)>) -> Translated {
        let mut addresses = Addresses::default();
        let note = |addresses: &mut Addresses, (level, item, part): (Level, usize, usize), at: String| {
            if let (Ok(item), Ok(part)) = (u32::try_from(item), u32::try_from(part)) {
                addresses.note(Place { level, item, part, keys: false }, at);
            }
        };
        let mut elements = |level: Level, parts: Vec<Part>| -> Value {
            let parts = parts.into_iter().enumerate().map(|(item, Part { value, at })| {
                note(&mut addresses, (level, item, 0), at);
                value
            });
            Value::List(parts.collect())
        };
        push(&mut keys, "tools", self.tools.map(|tools| elements(Level::Tools, tools)));
        let system = (!self.system.is_empty()).then_some(self.system);
        push(&mut keys, "system", system.map(|system| elements(Level::System, system)));
        let mut message = |(item, turn): (usize, Turn)| {
            if let Ok(item) = u32::try_from(item) {
                addresses.note(Place { level: Level::Messages, item, part: 0, keys: true }, turn.at);
            }
            let content = turn.content.into_iter().enumerate().map(|(part, Part { value, at })| {
                note(&mut addresses, (Level::Messages, item, part), at);
                value
            });
            let content = ("content".to_owned(), Value::List(content.collect()));
            let role = ("role".to_owned(), turn.role);
            Value::Object(std::iter::once(role).chain(turn.keys).chain([content]).collect())
        };
        let messages =
            self.messages.map(|turns| Value::List(turns.into_iter().enumerate().map(&mut message).collect()));
        push(&mut keys, "messages", messages);
        Translated { body: Value::Object(keys), addresses }
    }
}

/// Elements of the list at `at`, each with its own path.
fn indexed<'a>(elements: &'a [Value], at: &'a str) -> impl Iterator<Item = (&'a Value, String)> {
    elements.iter().enumerate().map(move |(index, element)| (element, format!("{at}[{index}]")))
}

/// Adds a member if there is a value.
fn push(members: &mut Vec<(String, Value)>, key: &str, value: Option<Value>) {
    members.extend(value.map(|value| (key.to_owned(), value)));
}

/// Puts a marker on a block, with the requested lifetime.
fn mark(block: &mut Value, ttl: Option<&Value>) {
    let mut marker = vec![("type".to_owned(), Value::text("ephemeral"))];
    push(&mut marker, "ttl", ttl.cloned());
    put(block, "cache_control", Value::Object(marker));
}

/// Notes where messages begin that follow one of the same speaker ([`MESSAGE_START`]); `None`: it is no message of its own.
fn note_starts<'a>(turns: &mut [Turn], speakers: impl Iterator<Item = Option<&'a str>>) {
    let mut before = None;
    for (turn, speaker) in turns.iter_mut().zip(speakers) {
        if speaker.is_some() && speaker == before && !turn.content.is_empty() {
            turn.keys.push((MESSAGE_START.to_owned(), Value::Bool(true)));
        }
        before = speaker;
    }
}

/// Sets a member, the last of its name.
fn put(target: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = target {
        members.retain(|(name, _)| name != key);
        members.push((key.to_owned(), value));
    }
}

fn text_block(text: Value) -> Value {
    Value::object([("type", Value::text("text")), ("text", text)])
}

/// `data` is base64 text, or bytes that a recorder unpacked.
fn base64_source(media_type: String, data: Value) -> Value {
    Value::object([("type", Value::text("base64")), ("media_type", Value::Text(media_type)), ("data", data)])
}

fn text_form(value: &Value) -> Value {
    match value {
        Value::Text(_) => value.clone(),
        other => Value::text(String::from_utf8_lossy(&other.to_json())),
    }
}
