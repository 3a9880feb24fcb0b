//! What a script answers to a question: events, or a fault.

use std::rc::Rc;

use serde_json::Value;

use super::event::{Delta, Event, Grammar, Opened, StopReason};
use super::{Broken, CallError};
use crate::time::Duration;
use crate::wire::{Ttl, Usage};

/// An answer without usage and without time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The events in order, their usage zero.
    pub events: Vec<Event>,
    /// Output tokens if the script states them; otherwise they are counted.
    pub output_tokens: Option<u64>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// Time to the first byte if the script states it; otherwise it follows from the tokens.
    pub first_byte: Option<Duration>,
    /// Time from the first byte to the end if the script states it.
    pub streaming: Option<Duration>,
    /// Time from the first byte to each event, if a recording states it; otherwise it follows from their bytes.
    pub arrivals: Vec<Duration>,
    /// What happened to the prompt of the request.
    pub unseen: Unseen,
    /// The request went to this model: the client had switched to it.
    pub model: Option<Rc<str>>,
}

/// What happened to the prompt of a request unseen by the agent that sent it. Real clients rebuild parts of a prompt (after
/// a restart, or when thinking is switched), send hidden requests, and share prefixes with other sessions
/// (`observed.md` 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// The client sent other content after this many tokens, and sends it so from then on.
    pub changed_after_tokens: Option<u64>,
    /// It left out this many tokens of what follows, and leaves them out from then on.
    pub dropped_tokens: Option<u64>,
    /// The client set its last breakpoint before this many tokens, not at the end: it attached something after it.
    pub tail_tokens: Option<u64>,
    /// Another request keeps this many tokens of the prompt in the cache.
    pub kept_tokens: Option<u64>,
    /// The client asked for another lifetime of cache entries than that of the session.
    pub ttl: Option<Ttl>,
}

/// What goes wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no answer.
    Refusal(CallError),
    /// The answer breaks off after this many events.
    Interruption {
        /// Events that still arrive.
        after_events: usize,
        /// How it breaks off.
        how: Interruption,
    },
}

/// How an answer breaks off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The answer breaks off after this many events.
    Broken(Broken),
    /// The connection is closed as if the answer were whole.
    Closed,
    /// The client gave up, so a recording does not hold the rest: nothing more arrives. Without events and without time
    /// to the first byte there is no first byte either.
    GivenUp,
    /// The provider sends an `error` event.
    Error {
        /// The provider's error type.
        kind: Rc<str>,
        /// The provider's error message.
        message: Rc<str>,
    },
}

/// A block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A tool call.
    ToolUse {
        /// Id of the call.
        id: Rc<str>,
        /// The tool.
        name: Rc<str>,
        /// Its input.
        input: Value,
    },
}

impl Answer {
    /// An answer `id` with this one message, one delta per block.
    pub fn message(id: &str, said: &[Said]) -> Self {
        let mut events = vec![Event::MessageStart { id: id.into(), usage: Usage::default() }];
        for (index, said) in said.iter().enumerate() {
            let (block, delta) = opened(said);
            events.push(Event::BlockStart { index, block });
            events.push(Event::BlockDelta { index, delta });
            if matches!(said, Said::Thinking(_)) {
                events
                    .push(Event::BlockDelta { index, delta: Delta::Signature(format!("signed-{id}-{index}").into()) });
            }
            events.push(Event::BlockStop { index });
        }
        let calls = said.iter().any(|said| matches!(said, Said::ToolUse { .. }));
        let stop_reason = Some(if calls { StopReason::ToolUse } else { StopReason::EndTurn });
        events.push(Event::MessageDelta { stop_reason, usage: Usage::default() });
        events.push(Event::MessageStop);
        Self { events, ..Self::default() }
    }

    /// Whether nothing of it ever arrives.
    pub fn is_without_first_byte(&self) -> bool {
        let is_given_up = matches!(self.fault, Some(Fault::Interruption { how: Interruption::GivenUp, .. }));
        is_given_up && self.events.is_empty() && self.first_byte.is_none()
    }

    /// Checks the order of the events (contract STREAM-01).
    ///
    /// # Errors
    /// The number of the first event out of order, counted from zero, and the expected one.
    pub fn check(&self) -> Result<(), (usize, &'static str)> {
        let mut grammar = Grammar::default();
        for (at, event) in self.events.iter().enumerate() {
            grammar.step(event).map_err(|expected| (at, expected))?;
        }
        if matches!(self.fault, Some(Fault::Refusal(_))) {
            Ok(())
        } else {
            grammar.end().map_err(|expected| (self.events.len(), expected))
        }
    }
}

fn opened(said: &Said) -> (Opened, Delta) {
    match said {
        Said::Text(text) => (Opened::Text, Delta::Text(text.as_str().into())),
        Said::Thinking(text) => (Opened::Thinking, Delta::Thinking(text.as_str().into())),
        Said::ToolUse { id, name, input } => {
            let opened = Opened::ToolUse { id: id.clone(), name: name.clone(), caller: None };
            (opened, Delta::InputJson(input.to_string().into()))
        }
    }
}
