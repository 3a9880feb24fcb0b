//! Chats of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-*.json` and, newer, `….jsonl`.
//!
//! * The older form is one document `{sessionId, projectHash, messages[]}`; the newer one has a line with the same keys
//!   without messages, then a line per message. A message that grows is written again under its id: the last one
//!   counts. `{"$rewindTo": ID}` removes that message and all later ones, `{"$set": {"messages": […]}}` replaces all (a
//!   compression).
//! * A message of type `gemini` is one request: `tokens{input, output, cached, thoughts, tool, total}`. `cached` is
//!   part of `input`; `thoughts` are not part of `output`, and `tool` (prompts of the provider's tools) is not part of
//!   `input`. The results of its tool calls are in the same message, but they are sent in the next request.
//! * The working directory is not recorded, only its hash: that is the project. Sub-agents (`kind: "subagent"`) have a
//!   file in a folder named after the session.
//! * Copies of one chat at several stages are common (the messages' ids are the same).
//! * Requests for titles, compression and routing are not in the file.
//!
//! Source: google-gemini/gemini-cli `packages/core/src/services/chatRecordingService.ts` (commit 5411f113ca); chats of
//! 2026-01.

mod chat;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::{keys, skip_space};
use super::reader::{File, Object, Probe, Reader};
use super::thread::{conclude, records, records_under};
use chat::Chat;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "gemini-cli",
    what: "chats of Gemini CLI (`~/.gemini/tmp/*/chats`), as documents and as lines",
    detected_by: "keys `sessionId` and `projectHash`",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    // A line of a chat whose first line, with the session, is damaged.
    let is_answer = || object.text("type").is_some_and(|kind| kind == "gemini");
    let is_line = object.has_any(&["$set", "$rewindTo"]) || object.has_all(&["id", "timestamp"]) && is_answer();
    Probe::sure(object.has_all(&["sessionId", "projectHash"])).or_perhaps(is_line)
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut chat = Chat::default();
    let start = skip_space(text.bytes, 0);
    match keys(text.bytes, start).keys.iter().any(|key| key == "messages") {
        // The older form, element by element, so that an incomplete file is read as far as it goes.
        true => {
            chat.head(text.bytes);
            records_under(text, "messages", &mut reading, |reading, line, raw| chat.message(reading, line, raw));
        }
        false => records(text, &mut reading, |reading, line, raw| chat.record(reading, line, raw)),
    }
    let thread = chat.finish(file.name, &mut reading);
    conclude(&mut reading, thread);
    reading
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "$rewindTo")]
    rewind_to: Option<Cow<'a, str>>,
    #[serde(rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(rename = "sessionId")]
    session: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Checkpoint<'a> {
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    timestamp: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    model: Option<Cow<'a, str>>,
    tokens: Option<Tokens>,
    thoughts: Option<Vec<&'a RawValue>>,
    #[serde(rename = "toolCalls")]
    calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    args: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    timestamp: Option<Cow<'a, str>>,
    #[serde(rename = "agentId")]
    agent: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
}
