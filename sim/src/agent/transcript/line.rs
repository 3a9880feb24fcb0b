//! Reads and writes one line of a transcript.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::entry::{Block, Entry, NamedCall, Nature, ToolUse};
use crate::agent::world::files::Unwritten;
use crate::outside::{complaint, found};
use crate::time::Instant;
use crate::wire::{self, Piece, Pieces, Role, Usage};

/// The content of a line.
pub enum Record {
    /// A message.
    Message(Rc<Entry>),
    /// The message with this id was withdrawn.
    Tombstone(Rc<str>),
}

/// A line as it is written, without the blocks, which are appended as they were sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    agent_id: &'a str,
    session_id: &'a str,
    cwd: &'a str,
    uuid: &'a str,
    at_ms: u64,
    nature: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declared_tokens: Vec<Option<u64>>,
    #[serde(rename = "type")]
    role: &'static str,
}

/// A line as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read<'a> {
    uuid: String,
    nature: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    declared_tokens: Vec<Option<u64>>,
    #[serde(borrow)]
    message: Body<'a>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Serialize, Deserialize)]
struct Tombstone {
    r#type: String,
    uuid: String,
}

/// A message with the other fields of its line.
pub struct Message {
    pub entry: Rc<Entry>,
    /// The previous message in the same log.
    pub parent: Option<Rc<str>>,
    pub is_sidechain: bool,
    pub agent: Rc<str>,
    pub session: Rc<str>,
    pub cwd: Rc<str>,
    pub at: Instant,
}

impl Message {
    fn head(&self, role: &'static str) -> String {
        let entry = &self.entry;
        let content = &entry.message.content;
        let declared = content.iter().any(|piece| piece.declared_tokens().is_some());
        json(&Head {
            parent_uuid: self.parent.as_deref(),
            is_sidechain: self.is_sidechain,
            agent_id: &self.agent,
            session_id: &self.session,
            cwd: &self.cwd,
            uuid: &entry.uuid,
            at_ms: self.at.since(Instant::default()).as_millis(),
            nature: entry.nature.name(),
            text: if restorable(entry) { "" } else { &entry.text },
            declared_tokens: if declared { content.iter().map(Piece::declared_tokens).collect() } else { Vec::new() },
            role,
        })
    }
}

impl Unwritten for Message {
    fn text(&self) -> String {
        let entry = &self.entry;
        let role = if entry.is_assistant() { "assistant" } else { "user" };
        let mut line = self.head(role);
        line.pop();
        line.push_str(",\"message\":{\"role\":\"");
        line.push_str(role);
        line.push_str("\",\"content\":[");
        for (at, piece) in entry.message.content.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            push_block(&mut line, piece.json());
        }
        line.push(']');
        if entry.is_assistant() {
            line.push_str(",\"usage\":");
            line.push_str(&json(&entry.usage));
        }
        line.push_str("}}\n");
        line
    }
}

/// The line that withdraws the message `uuid`.
pub fn tombstone(uuid: &str) -> String {
    json(&Tombstone { r#type: "tombstone".into(), uuid: uuid.into() }) + "\n"
}

/// Reads a line.
///
/// # Errors
/// The error in it.
pub fn read(text: &str) -> Result<Record, String> {
    if let Ok(tombstone) = serde_json::from_str::<Tombstone>(text)
        && tombstone.r#type == "tombstone"
    {
        return Ok(Record::Tombstone(tombstone.uuid.into()));
    }
    let read: Read<'_> = serde_json::from_str(text).map_err(|error| complaint::json(&error))?;
    let nature = Nature::named(&read.nature).ok_or_else(|| format!("the nature {}", found(&read.nature)))?;
    let declared = |at: usize| read.declared_tokens.get(at).copied().flatten();
    let content: Pieces = read
        .message
        .content
        .iter()
        .enumerate()
        .map(|(at, block)| {
            let piece = Piece::new(block.get().to_owned());
            declared(at).map_or(piece.clone(), |tokens| piece.sized(tokens))
        })
        .collect();
    let role = if matches!(nature, Nature::Said | Nature::ApiError) { Role::Assistant } else { Role::User };
    let text: Rc<str> = read.text.unwrap_or_else(|| texts(&content)).into();
    let tool_uses = content.iter().filter_map(ToolUse::of).map(|call| NamedCall::from(&call)).collect();
    let answers = content.iter().map_while(tool_result).collect();
    let uuid = read.uuid.into();
    let usage = read.message.usage;
    let message = Rc::new(wire::Message { role, content });
    Ok(Record::Message(Rc::new(Entry { uuid, message, tool_uses, answers, text, nature, usage })))
}

/// Whether the text of an entry equals the texts of its blocks, so that it need not be written twice.
fn restorable(entry: &Entry) -> bool {
    *entry.text == texts(&entry.message.content)
}

/// The texts of text blocks.
fn texts(content: &Pieces) -> String {
    let texts: Vec<String> = content.iter().filter_map(|piece| Block::of(piece, "text")?.text).collect();
    texts.concat()
}

/// The call that a block is the result of, if it is one.
fn tool_result(piece: &Piece) -> Option<Rc<str>> {
    Some(Block::of(piece, "tool_result")?.tool_use_id?.into())
}

/// Appends a block on one line. Line breaks in JSON occur only between tokens, where a blank is equivalent.
fn push_block(line: &mut String, json: &str) {
    if json.contains(['\n', '\r']) {
        line.extend(json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
    } else {
        line.push_str(json);
    }
}

/// The bytes of `value`; none of the values above can fail.
fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value);
    debug_assert!(json.is_ok(), "keys in a transcript line are strings");
    json.unwrap_or_default()
}
