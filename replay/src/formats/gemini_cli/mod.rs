//! Chats of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-*.json` and, newer, `….jsonl`.
//!
//! * The older form is one document `{sessionId, projectHash, messages[]}`; the newer one a line of the same without messages,
//!   then a line per message. A message that grows is written again under its id: the last one counts.
//!   `{"$rewindTo": ID}` takes back that message and what follows, `{"$set": {"messages": […]}}` replaces all (a compression).
//! * A message of type `gemini` is one request: `tokens{input, output, cached, thoughts, tool, total}`. `cached` is part of `input`;
//!   `thoughts` stand beside `output`, `tool` (prompts of the provider's tools) beside `input`. The results of its tool calls stand in
//!   it, though they go into the next request.
//! * No working directory is recorded, only its hash: that is the project. Sub-agents (`kind: "subagent"`) have a file in a
//!   folder named after the session.
//! * Copies of one chat at several stages are common (the messages' ids are the same).
//! * Requests for titles, compression and routing are not in the file.
//!
//! Source: google-gemini/gemini-cli `packages/core/src/services/chatRecordingService.ts` (commit 5411f113ca); chats of 2026-01.

mod chat;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::{keys, skip_space};
use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::Text;
use super::thread::{note_unmeasured, records};
use chat::Chat;

/// The reader.
pub(super) struct GeminiCli;

impl Reader for GeminiCli {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "gemini-cli",
            what: "chats of Gemini CLI (`~/.gemini/tmp/*/chats`), as documents and as lines",
            detected_by: "keys `sessionId` and `projectHash`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        // A line of a chat whose first one, which names the session, is damaged.
        let is_answer = || object.text("type").is_some_and(|kind| kind == "gemini");
        let is_line = object.has_any(&["$set", "$rewindTo"]) || object.has_all(&["id", "timestamp"]) && is_answer();
        Probe::sure(object.has_all(&["sessionId", "projectHash"])).or_perhaps(is_line)
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(file.name, &file.text())
    }
}

/// Reads one chat.
fn read(file: &str, text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut chat = Chat::default();
    let start = skip_space(text.bytes, 0);
    match keys(text.bytes, start).0.iter().any(|key| key == "messages") {
        true => document(text, &mut reading, &mut chat),
        false => records::<&RawValue>(text, &mut reading, |reading, record| {
            chat.record(reading, record.line, record.value);
        }),
    }
    let thread = chat.finish(file, &mut reading);
    note_unmeasured(&mut reading, &thread.items);
    if !thread.items.is_empty() {
        reading.threads.push(thread);
    }
    reading
}

/// The older form, element by element, so that one that breaks off is read as far as it goes.
fn document<'a>(text: &Text<'a>, reading: &mut Reading, chat: &mut Chat<'a>) {
    chat.head(text.bytes);
    let (messages, fault) = text.elements_under("messages");
    for range in messages {
        let (line, start) = (text.line_of(range.start), range.start);
        match text.bytes.get(range).map(serde_json::from_slice::<&RawValue>) {
            Some(Ok(message)) => chat.message(reading, line, message),
            Some(Err(error)) => reading.damage(text.json_fault(start, &error)),
            None => {}
        }
    }
    if let Some(fault) = fault {
        reading.damage(fault);
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "$rewindTo")]
    rewind_to: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Checkpoint<'a> {
    #[serde(borrow, default)]
    messages: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    tokens: Option<Tokens>,
    #[serde(borrow, default)]
    thoughts: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default, rename = "toolCalls")]
    calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "agentId")]
    agent: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    thoughts: u64,
    #[serde(default)]
    tool: u64,
}
