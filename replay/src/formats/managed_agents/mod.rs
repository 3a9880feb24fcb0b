//! Event streams of Claude's managed agents: events as the API lists them (`{type, processed_at, …}`), line by line or in a list
//! under `data`, or each in an envelope `{role, kind, time, raw}`.
//!
//! * `span.model_request_start` and `_end` enclose one request; the end has `model_usage{input_tokens, output_tokens,
//!   cache_read_input_tokens, cache_creation_input_tokens}`, all beside each other. What was written has no lifetime here.
//! * What the agent said and called between them is its answer; results come as events of their own.
//! * Events name no model, unless whoever stored them added `model`: then requests have usage and no price.
//! * Events of further threads (`session_thread_id`) are agents of their own. Evaluations of outcomes have spans without usage.
//!
//! Source: Claude Platform docs, managed agents, events and streaming (2026-11). No recording at hand.

mod stream;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::skip_space;
use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::{Text, is_list};
use super::thread::{note_unmeasured, records};
use stream::Streams;

/// The reader.
pub(super) struct ManagedAgents;

impl Reader for ManagedAgents {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "managed-agents",
            what: "event streams of Claude's managed agents, as listed by the API or stored line by line",
            detected_by: "objects with `type` and `processed_at`, or with `role`, `kind`, `time` and `raw`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        let is_event = object.has_all(&["type", "processed_at"]);
        let is_page = object.first_under("data").is_some_and(|event| event.has("processed_at"));
        Probe::sure(is_event || object.has_all(&["role", "kind", "time", "raw"])).or_perhaps(is_page)
    }

    fn reads_lists(&self) -> bool {
        true
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(&file.text())
    }
}

/// Reads a stream.
fn read(text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut streams = Streams::default();
    let start = skip_space(text.bytes, 0);
    let is_page = super::json::keys(text.bytes, start).0.iter().any(|key| key == "data");
    if is_page || is_list(text.bytes) {
        let (ranges, fault) = if is_page { text.elements_under("data") } else { text.list(start) };
        for range in ranges {
            let (line, start) = (text.line_of(range.start), range.start);
            match serde_json::from_slice::<Event<'_>>(text.bytes.get(range).unwrap_or_default()) {
                Ok(event) => streams.event(&mut reading, line, event),
                Err(error) => reading.damage(text.json_fault(start, &error)),
            }
        }
        fault.into_iter().for_each(|fault| reading.damage(fault));
    } else {
        records::<Event<'_>>(text, &mut reading, |reading, record| streams.event(reading, record.line, record.value));
    }
    let threads = streams.finish(&mut reading);
    for thread in threads.into_iter().filter(|thread| !thread.items.is_empty()) {
        note_unmeasured(&mut reading, &thread.items);
        reading.threads.push(thread);
    }
    reading
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    raw: Option<&'a RawValue>,
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    processed_at: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "custom_tool_use_id", alias = "mcp_tool_use_id")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    model_usage: Option<Tokens>,
}

#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    #[serde(default, alias = "input")]
    input_tokens: u64,
    #[serde(default, alias = "output")]
    output_tokens: u64,
    #[serde(default, alias = "cache_read")]
    cache_read_input_tokens: u64,
    #[serde(default, alias = "cache_creation")]
    cache_creation_input_tokens: u64,
}
