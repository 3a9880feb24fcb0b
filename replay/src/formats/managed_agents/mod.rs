//! Event streams of Claude's managed agents: events as the API lists them (`{type, processed_at, …}`), line by line or
//! in a list under `data`, or each in an envelope `{role, kind, time, raw}`.
//!
//! * `span.model_request_start` and `_end` enclose one request; the end has `model_usage{input_tokens, output_tokens,
//!   cache_read_input_tokens, cache_creation_input_tokens}`, all separate. Written tokens have no lifetime here.
//! * The agent's text and calls between them are its answer; results are separate events.
//! * Events have no model unless `model` was added when they were stored; without it, requests have usage but no price.
//! * Further threads (`session_thread_id`) are separate agents. Evaluations of outcomes have spans without usage.
//!
//! Source: Claude Platform docs, managed agents, events and streaming (2026-11). No recording at hand.

mod stream;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::skip_space;
use super::reader::{File, Object, Probe, Reader};
use super::text::is_list;
use super::thread::{conclude, elements, records, records_under};
use stream::Streams;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "managed-agents",
    what: "event streams of Claude's managed agents, as listed by the API or stored line by line",
    detected_by: "objects with `type` and `processed_at`, or with `role`, `kind`, `time` and `raw`",
    probe,
    read,
    reads_lists: true,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_event = object.has_all(&["type", "processed_at"]);
    let is_page = object.first_under("data").is_some_and(|event| event.has("processed_at"));
    Probe::sure(is_event || object.has_all(&["role", "kind", "time", "raw"])).or_perhaps(is_page)
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut streams = Streams::default();
    let start = skip_space(text.bytes, 0);
    let is_page = super::json::keys(text.bytes, start).keys.iter().any(|key| key == "data");
    let take = |reading: &mut Reading, line: usize, event: Event<'_>| streams.event(reading, line, event);
    if is_page {
        records_under(text, "data", &mut reading, take);
    } else if is_list(text.bytes) {
        let (ranges, fault) = text.list(start);
        elements(text, ranges, &mut reading, take);
        fault.into_iter().for_each(|fault| reading.damage(fault));
    } else {
        records(text, &mut reading, take);
    }
    for thread in streams.finish(&mut reading) {
        conclude(&mut reading, thread);
    }
    reading
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
    time: Option<Cow<'a, str>>,
    #[serde(rename = "type")]
    kind: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    processed_at: Option<Cow<'a, str>>,
    session_id: Option<Cow<'a, str>>,
    session_thread_id: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    name: Option<Cow<'a, str>>,
    input: Option<&'a RawValue>,
    #[serde(alias = "custom_tool_use_id", alias = "mcp_tool_use_id")]
    tool_use_id: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    model_usage: Option<Tokens>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(alias = "input")]
    input_tokens: u64,
    #[serde(alias = "output")]
    output_tokens: u64,
    #[serde(alias = "cache_read")]
    cache_read_input_tokens: u64,
    #[serde(alias = "cache_creation")]
    cache_creation_input_tokens: u64,
}
