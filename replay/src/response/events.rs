//! The content of an answer as the events of a model, and back.
//!
//! Blocks that no event of the model can represent (calls of the provider's own tools, their results, redacted thinking)
//! are left out and counted. Only answers in the spelling of the Messages API have content that is read.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::model::{Delta, Event, Opened, StopReason};
use forkcast_sim::wire::Usage;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::payload::{self, Payload};
use crate::exchange::Dialect;
use crate::formats::json::{elements, member, member_text, text};

/// The content of an answer.
#[derive(Debug, Default)]
pub struct Content {
    /// The events in order, without usage.
    pub events: Vec<Event>,
    /// The number of each event among those of the recorded stream; without meaning if there was no stream.
    pub numbers: Vec<usize>,
    /// Blocks that were left out.
    pub left_out: usize,
    /// The new position of each block that is not left out.
    positions: BTreeMap<usize, usize>,
}

impl Content {
    /// Of these events.
    pub fn of_events(events: Vec<Event>) -> Self {
        Self { events, ..Self::default() }
    }

    /// Reads the body of an answer: a message, or a stream of events in any framing. `None` for other dialects, and for
    /// a body that is neither.
    pub fn read(dialect: Dialect, body: &[u8]) -> Option<Self> {
        if !matches!(dialect, Dialect::Messages | Dialect::BedrockInvoke) {
            return None;
        }
        let mut content = Self::default();
        match payload::of(body) {
            Payload::Json(message) => content.message(message),
            Payload::Events(events) => {
                let events = events.list.iter().enumerate();
                events.for_each(|(number, event)| content.event(number, &event.data));
            }
            Payload::Neither(_) => {}
        }
        (!content.events.is_empty()).then_some(content)
    }

    /// Reads a message of the assistant, as an answer or as a later request repeats it.
    pub fn message(&mut self, message: &[u8]) {
        let Some(said) = member(message, "content") else { return };
        self.push(0, Event::MessageStart { id: text_of(message, "id"), usage: Usage::default() });
        let mut calls = false;
        match text(said) {
            Some(text) => self.block(0, Opened::Text, vec![Delta::Text((*text).into())]),
            None => {
                for (index, block) in elements(said).enumerate() {
                    let Some((opened, deltas)) = block_of(block) else {
                        self.left_out += 1;
                        continue;
                    };
                    calls |= matches!(opened, Opened::ToolUse { .. });
                    self.block(index, opened, deltas);
                }
            }
        }
        let otherwise = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let stop_reason = Some(stop_reason(message).unwrap_or(otherwise));
        self.push(0, Event::MessageDelta { stop_reason, usage: Usage::default() });
        self.push(0, Event::MessageStop);
    }

    /// Leaves out who made the calls, for clients that do not send that back.
    pub fn forget_callers(&mut self) {
        for event in &mut self.events {
            if let Event::BlockStart { block: Opened::ToolUse { caller, .. }, .. } = event {
                *caller = None;
            }
        }
    }

    fn push(&mut self, number: usize, event: Event) {
        self.events.push(event);
        self.numbers.push(number);
    }

    fn block(&mut self, at: usize, block: Opened, deltas: Vec<Delta>) {
        let index = self.position(at);
        self.push(0, Event::BlockStart { index, block });
        deltas.into_iter().for_each(|delta| self.push(0, Event::BlockDelta { index, delta }));
        self.push(0, Event::BlockStop { index });
    }

    fn position(&mut self, at: usize) -> usize {
        let next = self.positions.len();
        *self.positions.entry(at).or_insert(next)
    }

    fn event(&mut self, number: usize, event: &[u8]) {
        let inner = |name: &str| member(event, name).unwrap_or(&[]);
        let at = member(event, "index").and_then(|raw| std::str::from_utf8(raw).ok()?.trim().parse::<usize>().ok());
        let index = at.and_then(|at| self.positions.get(&at).copied());
        match member_text(event, "type").as_deref() {
            Some("message_start") => {
                let id = text_of(inner("message"), "id");
                self.positions.clear();
                self.push(number, Event::MessageStart { id, usage: Usage::default() });
            }
            Some("content_block_start") => {
                at.into_iter().for_each(|at| self.start(number, at, inner("content_block")));
            }
            Some("content_block_delta") => {
                if let (Some(index), Some(delta)) = (index, delta_of(inner("delta"))) {
                    self.push(number, Event::BlockDelta { index, delta });
                }
            }
            Some("content_block_stop") => {
                index.into_iter().for_each(|index| self.push(number, Event::BlockStop { index }));
            }
            Some("message_delta") => {
                let stop_reason = stop_reason(inner("delta"));
                self.push(number, Event::MessageDelta { stop_reason, usage: Usage::default() });
            }
            Some("message_stop") => self.push(number, Event::MessageStop),
            Some("ping") => self.push(number, Event::Ping),
            Some("error") => {
                let error = inner("error");
                self.push(number, Event::Error { kind: text_of(error, "type"), message: text_of(error, "message") });
            }
            _ => {}
        }
    }

    /// A block begins. Some providers send its first part with it.
    fn start(&mut self, number: usize, at: usize, block: &[u8]) {
        let Some((opened, deltas)) = block_of(block) else {
            self.left_out += 1;
            return;
        };
        let is_call = matches!(opened, Opened::ToolUse { .. });
        let index = self.position(at);
        self.push(number, Event::BlockStart { index, block: opened });
        // The input of a call begins as an empty object, whatever follows.
        let begun = deltas.into_iter().filter(|delta| !is_call && !delta.text().is_empty());
        begun.for_each(|delta| self.push(number, Event::BlockDelta { index, delta }));
    }
}

/// The text under `name`, empty if there is none.
fn text_of(holder: &[u8], name: &str) -> Rc<str> {
    member_text(holder, name).map_or_else(|| Rc::from(""), |text| Rc::from(&*text))
}

fn stop_reason(holder: &[u8]) -> Option<StopReason> {
    StopReason::named(&member_text(holder, "stop_reason")?)
}

fn block_of(block: &[u8]) -> Option<(Opened, Vec<Delta>)> {
    let field = |name: &str| member_text(block, name).map(|text| Rc::<str>::from(&*text));
    match member_text(block, "type").as_deref()? {
        "text" => Some((Opened::Text, vec![Delta::Text(field("text")?)])),
        "thinking" => {
            let signature = field("signature").map(Delta::Signature);
            let deltas = [Delta::Thinking(field("thinking")?)].into_iter().chain(signature);
            Some((Opened::Thinking, deltas.collect()))
        }
        "tool_use" => {
            let input = member(block, "input").and_then(|input| std::str::from_utf8(input).ok()).unwrap_or("{}");
            let caller = member(block, "caller").filter(|raw| serde_json::from_slice::<IgnoredAny>(raw).is_ok());
            let caller = caller.and_then(|raw| std::str::from_utf8(raw).ok()).map(Rc::from);
            let opened = Opened::ToolUse { id: field("id")?, name: field("name")?, caller };
            Some((opened, vec![Delta::InputJson(input.trim().into())]))
        }
        _ => None,
    }
}

fn delta_of(delta: &[u8]) -> Option<Delta> {
    let field = |name: &str| member_text(delta, name).map(|text| Rc::<str>::from(&*text));
    match member_text(delta, "type").as_deref()? {
        "text_delta" => field("text").map(Delta::Text),
        "thinking_delta" => field("thinking").map(Delta::Thinking),
        "signature_delta" => field("signature").map(Delta::Signature),
        "input_json_delta" => field("partial_json").map(Delta::InputJson),
        _ => None,
    }
}

/// Events as the text of a stream of server-sent events.
pub fn stream(model: &str, events: &[Event]) -> String {
    let event = |event: &Event| format!("event: {}\ndata: {}\n\n", event.name(), data(model, event));
    events.iter().map(event).collect()
}

fn data(model: &str, event: &Event) -> Value {
    let kind = event.name();
    match event {
        Event::MessageStart { id, usage } => {
            let message = json!({ "id": **id, "type": "message", "role": "assistant", "model": model, "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": usage_of(usage) });
            json!({ "type": kind, "message": message })
        }
        Event::BlockStart { index, block } => {
            let block = match block {
                Opened::Text => json!({ "type": "text", "text": "" }),
                Opened::Thinking => json!({ "type": "thinking", "thinking": "", "signature": "" }),
                // The caller of a simulated call is unknown.
                Opened::ToolUse { id, name, .. } => {
                    json!({ "type": "tool_use", "id": **id, "name": **name, "input": {} })
                }
            };
            json!({ "type": kind, "index": index, "content_block": block })
        }
        Event::BlockDelta { index, delta } => {
            let delta = match delta {
                Delta::Text(text) => json!({ "type": "text_delta", "text": **text }),
                Delta::Thinking(text) => json!({ "type": "thinking_delta", "thinking": **text }),
                Delta::Signature(text) => json!({ "type": "signature_delta", "signature": **text }),
                Delta::InputJson(text) => json!({ "type": "input_json_delta", "partial_json": **text }),
            };
            json!({ "type": kind, "index": index, "delta": delta })
        }
        Event::BlockStop { index } => json!({ "type": kind, "index": index }),
        Event::MessageDelta { stop_reason, usage } => {
            json!({ "type": kind, "delta": { "stop_reason": stop_reason, "stop_sequence": null }, "usage": usage_of(usage) })
        }
        Event::MessageStop | Event::Ping => json!({ "type": kind }),
        Event::Error { kind: of, message } => {
            json!({ "type": kind, "error": { "type": **of, "message": **message } })
        }
    }
}

fn usage_of(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens(),
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.ephemeral_5m_input_tokens,
            "ephemeral_1h_input_tokens": usage.ephemeral_1h_input_tokens,
        },
        "output_tokens": usage.output_tokens,
    })
}
