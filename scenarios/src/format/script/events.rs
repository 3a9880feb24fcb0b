//! An answer as raw stream events, for streams that a well-behaved provider never sends.

use forkcast_sim::model::{Answer, Delta, Event, Opened, StopReason};
use forkcast_sim::wire::Usage;

use crate::format::outline;
use crate::format::reading::{At, Fields, Origin};

/// Stream events in order, each with its place.
#[derive(Clone, Debug)]
pub struct RawEvents {
    /// The events.
    pub events: Vec<Event>,
    /// The places of the events.
    pub origins: Vec<Origin>,
    /// The place of the list.
    pub origin: Origin,
}

/// Events without further fields.
pub(in crate::format) const BARE: [&str; 3] = ["message_start", "message_stop", "ping"];

/// Kinds of blocks that can begin.
pub(in crate::format) const OPENED: [(&str, u8); 3] = [("text", 0), ("thinking", 1), ("tool_use", 2)];

impl RawEvents {
    /// Reads `events`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let read = at.list(|at| Some((event(at)?, at.origin())))?;
        let (events, origins) = read.into_iter().unzip();
        Some(Self { events, origins, origin: at.origin() })
    }

    /// The first event that breaks the order of a stream, and the one expected there (contract STREAM-01).
    pub fn out_of_order(&self) -> Option<(&Origin, &'static str)> {
        let answer = Answer { events: self.events.clone(), ..Answer::default() };
        let (at, expected) = answer.check().err()?;
        Some((self.origins.get(at).unwrap_or(&self.origin), expected))
    }
}

fn event(at: &At<'_>) -> Option<Event> {
    if !at.has_fields() {
        let bare = BARE.map(|name| (name, name));
        return at.word(&bare).map(|name| match name {
            "message_start" => Event::MessageStart { id: "msg-raw".into(), usage: Usage::default() },
            "ping" => Event::Ping,
            _ => Event::MessageStop,
        });
    }
    let fields = at.fields(&outline::RAW_EVENT)?;
    let name = fields.one_of(&outline::RAW_EVENT.names())?;
    let inner = fields.get(name)?;
    match name {
        "content_block_start" => block_start(&inner.fields(&outline::BLOCK_START)?),
        "content_block_delta" => block_delta(&inner.fields(&outline::BLOCK_DELTA)?),
        "content_block_stop" => Some(Event::BlockStop { index: index(&inner.fields(&outline::BLOCK_STOP)?)? }),
        "message_delta" => {
            let stop_reason =
                inner.fields(&outline::MESSAGE_DELTA)?.may("stop_reason", |at| at.word(&StopReason::WORDS));
            Some(Event::MessageDelta { stop_reason, usage: Usage::default() })
        }
        "error" => {
            let fields = inner.fields(&outline::STREAM_ERROR)?;
            Some(Event::Error {
                kind: fields.must("type", At::name)?,
                message: fields.or_default("message", At::shared),
            })
        }
        bare => {
            inner.wrong(format_args!("write `- {bare}` without a value"));
            None
        }
    }
}

fn index(fields: &Fields<'_>) -> Option<usize> {
    fields.must("index", |at| at.small(0)).map(|index| index as usize)
}

fn block_start(fields: &Fields<'_>) -> Option<Event> {
    let kind = fields.must("type", |at| at.word(&OPENED))?;
    let block = match kind {
        0 => Opened::Text,
        1 => Opened::Thinking,
        _ => Opened::ToolUse { id: fields.needs("id", At::name)?, name: fields.needs("name", At::name)?, caller: None },
    };
    Some(Event::BlockStart { index: index(fields)?, block })
}

fn block_delta(fields: &Fields<'_>) -> Option<Event> {
    let kind = fields.one_of(&["text", "thinking", "signature", "input_json"])?;
    let text = fields.may(kind, At::shared)?;
    let delta = match kind {
        "text" => Delta::Text(text),
        "thinking" => Delta::Thinking(text),
        "signature" => Delta::Signature(text),
        _ => Delta::InputJson(text),
    };
    Some(Event::BlockDelta { index: index(fields)?, delta })
}
