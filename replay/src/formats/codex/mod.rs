//! Rollouts of Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! * `event_msg` `token_count` closes a request: `info.last_token_usage` is its usage, `info.total_token_usage` the sum so far.
//!   `info` may be null (only rate limits). The same total again is no new request (34 of 2,726 in the recordings at hand: after
//!   a compaction, and when a turn goes on); nor is one without input and output.
//! * `input_tokens` includes what was read (`cached_input_tokens`) and written (`cache_write_input_tokens`, newer versions).
//!   `reasoning_output_tokens` is part of `output_tokens`.
//! * A request's items stand before its `token_count`, and so do the results of its own calls: these belong to the next
//!   request. Items without a count, when a turn is aborted or the file ends, are a request whose usage is not known.
//! * `compacted` replaces the history; the request that made the summary is not in the file.
//! * A sub-agent has a file of its own: `source.subagent` in its `session_meta`, with the parent's id; the root's is
//!   `session_id` (from 0.142). A fork repeats its parent's lines, its `session_meta` too, under new instants: answers are known
//!   again by the session that they were first given in and their totals. (Texts may differ between copies of one rollout
//!   where a tool has redacted them.)
//! * Rollouts before 0.32 have bare items without usage and are not read.
//!
//! Source: openai/codex `codex-rs/protocol/src/protocol.rs` and `core/src/rollout` (2026-11), recordings of 0.114 to 0.142.5.

mod content;
mod rollout;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::Text;
use super::thread::{note_unmeasured, records};
use rollout::Rollout;

/// The reader.
pub(super) struct Codex;

impl Reader for Codex {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "codex",
            what: "rollouts of Codex CLI (`~/.codex/sessions`), sub-agents' files too",
            detected_by: "lines with keys `timestamp`, `type` and `payload`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        Probe::sure(object.has_all(&["timestamp", "type", "payload"]))
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(&file.text())
    }
}

/// Reads one rollout.
fn read(text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut rollout = Rollout::default();
    records::<Line<'_>>(text, &mut reading, |reading, record| rollout.line(reading, &record));
    let thread = rollout.finish(&mut reading);
    note_unmeasured(&mut reading, &thread.items);
    if !thread.items.is_empty() {
        reading.threads.push(thread);
    }
    reading
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parent_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    forked_from_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cli_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
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
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    effort: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    collaboration_mode: Option<Mode<'a>>,
}

#[derive(Deserialize)]
struct Mode<'a> {
    #[serde(borrow, default)]
    mode: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    settings: Option<Settings<'a>>,
}

#[derive(Deserialize)]
struct Settings<'a> {
    #[serde(borrow, default)]
    reasoning_effort: Option<Cow<'a, str>>,
}

/// An item of the conversation; every kind has some of these.
#[derive(Deserialize)]
struct Element<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    info: Option<&'a RawValue>,
    #[serde(default)]
    duration_ms: Option<u64>,
    #[serde(default)]
    num_turns: Option<usize>,
}

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    total_token_usage: Option<Tokens>,
    #[serde(default)]
    last_token_usage: Option<Tokens>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    cache_write_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    reasoning_output_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

#[derive(Deserialize)]
struct Compacted<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    replacement_history: Option<Vec<&'a RawValue>>,
}
