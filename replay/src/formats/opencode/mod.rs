//! Sessions of OpenCode as `opencode export SESSION` writes them: `{info, messages: [{info, parts[]}]}`.
//!
//! * An assistant's message is one request, or several: each `step-finish` part has the `tokens` and the `cost` of one. Only a
//!   message without such parts is counted by its own `tokens`.
//! * `tokens.input` leaves out what was read and written (`cache.read`, `cache.write`). `reasoning` stands beside `output` (versions of
//!   2025 had it in there too; where `total` stands, it tells).
//! * A `tool` part holds the call and its result; the result goes into the next request.
//! * A compaction is a user's message with a `compaction` part and an assistant's with `summary: true`: a request like others,
//!   after which the summary stands for what was before.
//! * A sub-agent is a session of its own whose `parentID` names its parent's.
//!
//! Source: anomalyco/opencode `packages/opencode/src/session/message-v2.ts`, `cli/cmd/export.ts` (2026-11). No recording at hand.

mod export;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::member;
use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::{Text, json_reason};
use super::thread::note_unmeasured;
use crate::error::Fault;
use export::Export;

/// The reader.
pub(super) struct OpenCode;

impl Reader for OpenCode {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "opencode",
            what: "sessions of OpenCode as `opencode export` writes them",
            detected_by: "top-level keys `info`, with an `id`, and `messages`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        let is_session = |info: Object<'_>| info.has("id");
        Probe::sure(object.has_all(&["info", "messages"]) && object.inner("info").is_some_and(is_session))
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(file.name, &file.text())
    }
}

/// Reads one export.
fn read(file: &str, text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut export = Export::default();
    match member(text.bytes, "info").map(serde_json::from_slice::<SessionInfo<'_>>) {
        Some(Ok(info)) => export.head(&info),
        Some(Err(error)) => reading.damage(Fault::in_line(1, format!("`info`: {}", json_reason(&error)))),
        None => {}
    }
    let (messages, fault) = text.elements_under("messages");
    for range in messages {
        let (line, start) = (text.line_of(range.start), range.start);
        match serde_json::from_slice::<Message<'_>>(text.bytes.get(range).unwrap_or_default()) {
            Ok(message) => export.message(&mut reading, line, &message),
            Err(error) => reading.damage(text.json_fault(start, &error)),
        }
    }
    if let Some(fault) = fault {
        reading.damage(fault);
    }
    let thread = export.finish(file, &mut reading);
    note_unmeasured(&mut reading, &thread.items);
    if !thread.items.is_empty() {
        reading.threads.push(thread);
    }
    reading
}

#[derive(Deserialize)]
struct SessionInfo<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "parentID")]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    directory: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    info: MessageInfo<'a>,
    #[serde(borrow)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageInfo<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default, rename = "modelID")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "providerID")]
    provider: Option<Cow<'a, str>>,
    #[serde(default)]
    tokens: Option<Tokens>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(borrow, default)]
    time: Option<Time<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    /// `true` of an assistant's message that summarises; an object in a user's.
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "variant")]
    effort: Option<Cow<'a, str>>,
}

/// Milliseconds.
#[derive(Clone, Copy, Deserialize)]
struct Time<'a> {
    #[serde(borrow, default)]
    created: Option<&'a RawValue>,
    #[serde(borrow, default)]
    completed: Option<&'a RawValue>,
    #[serde(borrow, default)]
    start: Option<&'a RawValue>,
    #[serde(borrow, default)]
    end: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: Cached,
    #[serde(default)]
    total: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Cached {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}

#[derive(Deserialize)]
struct PartInfo<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(default)]
    synthetic: bool,
    #[serde(default)]
    ignored: bool,
    #[serde(borrow, default)]
    time: Option<Time<'a>>,
    #[serde(borrow, default, rename = "callID")]
    call: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    state: Option<ToolState<'a>>,
    #[serde(default)]
    tokens: Option<Tokens>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(borrow, default)]
    reason: Option<Cow<'a, str>>,
    #[serde(default)]
    auto: bool,
    #[serde(default)]
    attempt: Option<u32>,
}

#[derive(Deserialize)]
struct ToolState<'a> {
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    time: Option<Time<'a>>,
}
