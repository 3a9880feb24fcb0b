//! Rollouts of Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! * `event_msg` `token_count` closes a request: `info.last_token_usage` is its usage, `info.total_token_usage` the sum
//!   so far. `info` may be null (only rate limits). An unchanged total is not a new request (34 of 2,726 in the
//!   recordings at hand: after a compaction, and when a turn continues); nor is one without input and output.
//! * `input_tokens` includes read (`cached_input_tokens`) and written tokens (`cache_write_input_tokens`, newer
//!   versions). `reasoning_output_tokens` is part of `output_tokens`.
//! * A request's items come before its `token_count`, and so do the results of its own calls: these belong to the next
//!   request. Items without a count, when a turn is aborted or the file ends, are a request with unknown usage.
//! * `compacted` replaces the history; the request that made the summary is not in the file.
//! * A sub-agent has its own file: `source.subagent` in its `session_meta`, with the parent's id; the root's is
//!   `session_id` (from 0.142). A fork repeats its parent's lines, including its `session_meta`, with new instants:
//!   answers are recognised by the session in which they were first given and by their totals. (Texts may differ
//!   between copies of one rollout if a tool has redacted them.)
//! * Rollouts before 0.32 have bare items without usage and are not read.
//!
//! Source: openai/codex `codex-rs/protocol/src/protocol.rs` and `core/src/rollout` (2026-11), recordings of 0.114 to
//! 0.142.5.

mod content;
mod rollout;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::reader::{File, Probe, Reader};
use super::thread::{conclude, records};
pub(super) use rollout::Listed;
use rollout::Rollout;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "codex",
    what: "rollouts of Codex CLI (`~/.codex/sessions`), sub-agents' files too",
    detected_by: "lines with keys `timestamp`, `type` and `payload`",
    probe: |object| Probe::sure(object.has_all(&["timestamp", "type", "payload"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut rollout = Rollout::default();
    records::<Record<'_>>(text, &mut reading, |reading, line, record| rollout.line(reading, line, &record));
    let thread = rollout.finish(&mut reading);
    conclude(&mut reading, thread);
    reading
}

#[derive(Deserialize)]
struct Record<'a> {
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    session_id: Option<Cow<'a, str>>,
    parent_thread_id: Option<Cow<'a, str>>,
    forked_from_id: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    cli_version: Option<Cow<'a, str>>,
    source: Option<&'a RawValue>,
}

/// `{"subagent": {"thread_spawn": {"parent_thread_id": …}}}`, or `{"subagent": "review"}`.
#[derive(Deserialize)]
struct Source<'a> {
    #[serde(borrow)]
    subagent: &'a RawValue,
}

#[derive(Deserialize)]
struct Spawned<'a> {
    #[serde(borrow)]
    thread_spawn: Parent<'a>,
}

#[derive(Deserialize)]
struct Parent<'a> {
    #[serde(borrow)]
    parent_thread_id: Cow<'a, str>,
}

#[derive(Deserialize)]
struct TurnContext<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    effort: Option<Cow<'a, str>>,
    collaboration_mode: Option<Mode<'a>>,
}

#[derive(Deserialize)]
struct Mode<'a> {
    #[serde(borrow)]
    mode: Option<Cow<'a, str>>,
    settings: Option<Settings<'a>>,
}

#[derive(Deserialize)]
struct Settings<'a> {
    #[serde(borrow)]
    reasoning_effort: Option<Cow<'a, str>>,
}

/// An item of the conversation; every kind has some of these.
#[derive(Deserialize)]
struct Element<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    role: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    name: Option<Cow<'a, str>>,
    call_id: Option<Cow<'a, str>>,
    arguments: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    action: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    info: Option<&'a RawValue>,
    duration_ms: Option<u64>,
    num_turns: Option<usize>,
}

#[derive(Deserialize)]
struct Info {
    total_token_usage: Option<Tokens>,
    last_token_usage: Option<Tokens>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
    total_tokens: u64,
}

#[derive(Deserialize)]
struct Compacted<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    replacement_history: Option<Vec<&'a RawValue>>,
}
