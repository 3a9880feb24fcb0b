//! The events of a session, thread by thread.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde_json::value::RawValue;

use super::{Event, Tokens};
use crate::exchange::RecordedUsage;
use crate::formats::Reading;
use crate::formats::thread::{FAILED, Names, Place, Unknown, accepted, beside, call_part, parsed, part, parts};
use crate::formats::thread::{pieces_hash, thread};
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Sign, Stop, Thread, What, answer_id};

/// Prefixes of event types that add nothing to a conversation.
const PASSED: [&str; 7] = [
    "session.status_",
    "session.thread_",
    "session.updated",
    "session.deleted",
    "span.outcome_evaluation_",
    "user.tool_confirmation",
    "agent.thread_",
];

/// The state of reading.
#[derive(Default)]
pub(super) struct Streams {
    session: Option<Arc<str>>,
    /// The main thread has the empty id.
    threads: BTreeMap<String, Stream>,
    names: Names,
    unknown: Unknown,
    unnamed: bool,
}

/// One thread.
#[derive(Default)]
struct Stream {
    items: Vec<Item>,
    started_at: Option<Instant>,
    is_open: bool,
    /// The parts so far of the answer that is being received.
    parts: Vec<Part>,
    calls: Vec<Call>,
    given_at: Option<Instant>,
    model: Option<Arc<str>>,
}

impl Streams {
    pub fn event(&mut self, reading: &mut Reading, line: usize, event: Event<'_>) {
        let outer = self.unknown.place(line, event.time.as_deref());
        let inner = match event.raw {
            None => event,
            Some(raw) => match accepted(reading, line, "`raw`", parsed(raw.get()).map(Some)) {
                Some(inner) => inner,
                None => return,
            },
        };
        let inner_place = self.unknown.place(line, inner.processed_at.as_deref());
        let place = Place { line, at: inner_place.at.or(outer.at) };
        if let Some(id) = inner.session_id.as_deref().filter(|_| self.session.is_none()) {
            self.session = Some(Arc::from(id));
        }
        let kind = inner.kind.as_deref().unwrap_or_default();
        let own = inner.session_thread_id.as_deref().unwrap_or_default().to_owned();
        let stream = self.threads.entry(own).or_default();
        stream.model = inner.model.as_deref().map(|model| self.names.get(model)).or_else(|| stream.model.take());
        match kind {
            "span.model_request_start" => (stream.is_open, stream.started_at) = (true, place.at),
            "span.model_request_end" => {
                self.unnamed |= stream.model.is_none();
                let read = inner.model_usage.map_or(Ok(None), Tokens::usage);
                let usage = accepted(reading, line, "`model_usage`", read);
                stream.close(place, &inner, usage, &mut self.names);
            }
            "user.message" | "user.define_outcome" | "system.message" => {
                stream.given(place, InputOrigin::Prompt, &inner);
            }
            "user.custom_tool_result" | "user.tool_result" | "agent.tool_result" | "agent.mcp_tool_result" => {
                let id = inner.tool_use_id.as_deref();
                let content = inner.content.map_or("[]", RawValue::get);
                stream.put(place, InputOrigin::ToolResults, vec![call_part(BlockKind::ToolResult, content, id)]);
            }
            "agent.message" => stream.made(parts(inner.content), None),
            "agent.thinking" => {
                let content = inner.content.map_or("\"\"", RawValue::get);
                stream.made(vec![part(BlockKind::Thinking, content)], None);
            }
            "agent.tool_use" | "agent.custom_tool_use" | "agent.mcp_tool_use" => {
                let id = inner.id.as_deref();
                let part = call_part(BlockKind::ToolUse, inner.input.map_or("{}", RawValue::get), id);
                stream.made(vec![part], Some(self.names.call(inner.name.as_deref(), id)));
            }
            "agent.thread_context_compacted" => {
                let compacted = Sign::Compacted { before_tokens: None, automatic: true };
                stream.items.push(place.sign(compacted));
            }
            "user.interrupt" => stream.items.push(place.sign(Sign::Interrupted)),
            "session.error" => stream.items.push(place.sign(FAILED)),
            "session.status_idle" | "session.thread_status_idle" => {
                stream.items.push(place.sign(Sign::TurnEnded { duration_ms: None }));
            }
            kind if PASSED.iter().any(|family| kind.starts_with(family)) => {}
            other => self.unknown.add(other, line),
        }
    }

    pub fn finish(self, reading: &mut Reading) -> Vec<Thread> {
        self.unknown.finish(reading);
        if self.unnamed {
            reading.notes.push("the events name no model: requests have usage and no price".to_owned());
        }
        let session = self.session;
        let finished = |(id, mut stream): (String, Stream)| {
            stream.leave();
            let agent = (!id.is_empty()).then(|| Arc::from(id));
            Thread { agent, ..thread(session.clone(), None, stream.items) }
        };
        self.threads.into_iter().map(finished).collect()
    }
}

impl Stream {
    fn given(&mut self, place: Place, origin: InputOrigin, event: &Event<'_>) {
        let parts = parts(event.content);
        self.put(place, origin, parts);
    }

    fn put(&mut self, place: Place, origin: InputOrigin, parts: Vec<Part>) {
        self.given_at = place.at.or(self.given_at);
        if !parts.is_empty() {
            self.items.push(place.input(origin, parts));
        }
    }

    /// Parts that arrive directly after an answer's end belong to it too.
    fn made(&mut self, parts: Vec<Part>, call: Option<Call>) {
        match self.items.last_mut() {
            Some(Item { what: What::Answer(answer), .. }) if !self.is_open => {
                if call.is_some() {
                    answer.stop = Stop::ToolUse;
                }
                answer.parts.extend(parts);
                answer.calls.extend(call);
            }
            _ => {
                self.parts.extend(parts);
                self.calls.extend(call);
            }
        }
    }

    fn close(&mut self, place: Place, event: &Event<'_>, usage: Option<RecordedUsage>, names: &mut Names) {
        let Place { line, at } = place;
        let id = match event.id.as_deref() {
            Some(id) => answer_id(id.as_bytes()),
            None => pieces_hash(&[b"managed-agents", &line.to_le_bytes(), &at.unwrap_or_default().0.to_le_bytes()]),
        };
        let calls = mem::take(&mut self.calls);
        let answer = Answer {
            sent_at: self.started_at.or(self.given_at),
            ended_at: at,
            usage,
            stop: Stop::after(&calls),
            parts: mem::take(&mut self.parts),
            calls,
            ..Answer::of(id, self.model.clone().unwrap_or_else(|| names.get("")))
        };
        (self.is_open, self.started_at) = (false, None);
        self.items.push(place.answer(answer));
    }

    /// Parts without an end belong to no known request: they become history.
    fn leave(&mut self) {
        let parts = mem::take(&mut self.parts);
        if !parts.is_empty() {
            let line = self.items.last().map_or(1, |item| item.line as usize);
            self.items.push(Place { line, at: None }.input(InputOrigin::Attachment, parts));
        }
    }
}

impl Tokens {
    /// `None` if nothing was counted, as for a failed request.
    fn usage(self) -> Result<Option<RecordedUsage>, String> {
        let Self { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = self;
        let counts = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens];
        let is_counted = counts.iter().any(|count| *count > 0);
        is_counted.then(|| beside(counts[0], counts[1], counts[2], counts[3], 0)).transpose()
    }
}
