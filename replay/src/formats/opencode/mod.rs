//! Sessions of OpenCode as `opencode export SESSION` writes them: `{info, messages: [{info, parts[]}]}`, or in the storage of
//! versions before 1.2 (`storage.rs`).
//!
//! * An assistant's message is one request, or several: each `step-finish` part has the `tokens` and the `cost` of one.
//!   Only a message without such parts is counted by its own `tokens`.
//! * `tokens.input` does not include read and written tokens (`cache.read`, `cache.write`). `output` does not include
//!   `reasoning` (in versions of 2025 it did; `total`, if present, decides).
//! * A `tool` part has the call and its result; the result is sent in the next request.
//! * A compaction is a user's message with a `compaction` part and an assistant's with `summary: true`: a normal
//!   request, after which the summary replaces the history.
//! * A sub-agent is a separate session whose `parentID` is its parent's id.
//!
//! Source: anomalyco/opencode `packages/opencode/src/session/message-v2.ts`, `cli/cmd/export.ts` (2026-11). No
//! recording at hand.

mod export;
mod storage;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::member;
use super::reader::{File, Object, Probe, Reader};
use super::text::json_reason;
use super::thread::{conclude, records_under};
use crate::error::Fault;
use export::Export;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "opencode",
    what: "sessions of OpenCode as `opencode export` writes them, or in its storage before 1.2",
    detected_by: "top-level keys `info`, with an `id`, and `messages`; or `id`, `projectID` and `directory`",
    probe,
    read,
    owner_of_bodies: storage::sessions_beside,
    ..Reader::BARE
};

/// Keys of a session's own file in the storage.
const STORED: [&str; 3] = ["id", "projectID", "directory"];

fn probe(object: &Object<'_>) -> Probe {
    let is_session = |info: Object<'_>| info.has("id");
    let is_export = object.has_all(&["info", "messages"]) && object.inner("info").is_some_and(is_session);
    Probe::sure(is_export || object.is_document && object.has_all(&STORED))
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut export = Export::default();
    let own = member(text.bytes, STORED[1]).map(|_| text.bytes);
    match own.or_else(|| member(text.bytes, "info")).map(serde_json::from_slice::<SessionInfo<'_>>) {
        Some(Ok(info)) => {
            export.head(&info);
            if own.is_some() {
                storage::read(&info, file.folder, &mut export, &mut reading);
            }
        }
        Some(Err(error)) => reading.damage(Fault::in_line(1, format!("`info`: {}", json_reason(&error)))),
        None => {}
    }
    if own.is_none() {
        records_under::<Message<'_>>(text, "messages", &mut reading, |reading, line, message| {
            export.message(reading, line, &message);
        });
    }
    let thread = export.finish(file.name, &mut reading);
    conclude(&mut reading, thread);
    reading
}

#[derive(Deserialize)]
struct SessionInfo<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "parentID")]
    parent: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    directory: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    info: MessageInfo<'a>,
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageInfo<'a> {
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(rename = "modelID")]
    model: Option<Cow<'a, str>>,
    #[serde(rename = "providerID")]
    provider: Option<Cow<'a, str>>,
    tokens: Option<Tokens>,
    cost: Option<f64>,
    time: Option<Time<'a>>,
    error: Option<&'a RawValue>,
    /// `true` in an assistant's message that summarises; an object in a user's.
    summary: Option<&'a RawValue>,
    #[serde(rename = "variant")]
    effort: Option<Cow<'a, str>>,
}

/// Milliseconds.
#[derive(Clone, Copy, Deserialize)]
struct Time<'a> {
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    completed: Option<&'a RawValue>,
    start: Option<&'a RawValue>,
    end: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cached,
    total: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cached {
    read: u64,
    write: u64,
}

#[derive(Deserialize)]
struct PartInfo<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
    text: Option<&'a RawValue>,
    #[serde(default)]
    synthetic: bool,
    #[serde(default)]
    ignored: bool,
    time: Option<Time<'a>>,
    #[serde(rename = "callID")]
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    state: Option<ToolState<'a>>,
    tokens: Option<Tokens>,
    cost: Option<f64>,
    reason: Option<Cow<'a, str>>,
    #[serde(default)]
    auto: bool,
    attempt: Option<u32>,
}

#[derive(Deserialize)]
struct ToolState<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    metadata: Option<&'a RawValue>,
    time: Option<Time<'a>>,
}
