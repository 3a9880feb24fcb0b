//! Recordings for the recorded model: the requests, and the answers as the next request repeats them.
//!
//! Readers do not keep recorded answers; but the request after an answer repeats it in its history, byte for byte. The
//! last answer of a chain is unknown: a text that says so replaces it. Blocks that no event of the model can represent
//! (calls of the provider's own tools, redacted thinking) are left out and counted.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::model::answer::Said;
use forkcast_sim::model::recorded::{Fidelity, Recorded, Take};
use forkcast_sim::model::{Answer, CallError, Delta, Event, Fault, Opened, StopReason};
use forkcast_sim::wire::{ChainId, Chains, NormalForms, Usage, Wire};

use crate::exchange::{Dialect, Exchange};
use crate::formats::json::{elements, member, member_text, text};
use crate::source::order::{Arrival, Stream};

/// The replacement of an answer that no request repeats.
const UNKNOWN: &str = "(The recording does not hold this answer: no request followed it.)";

/// A recording, ready to be played.
#[derive(Debug)]
pub struct Recording {
    /// Requests with their answers.
    pub takes: Vec<Take>,
    /// Answers that no request repeats.
    pub unknown_answers: usize,
    /// Blocks left out of answers.
    pub blocks_left_out: usize,
    /// Exchanges whose request could not be read, with the reason.
    pub unread: Vec<String>,
    wire: Wire,
    scope: String,
}

/// A request whose answer is not known yet.
struct OpenTake<'a> {
    arrival: &'a Arrival<'a>,
    take: Take,
    messages: usize,
}

impl Recording {
    /// The recording of a stream of requests.
    pub fn of<'a>(stream: &'a Stream<'a>, forms: NormalForms) -> Self {
        let scope = stream.scope.name.clone();
        let mut recording = Self {
            takes: Vec::new(),
            unknown_answers: 0,
            blocks_left_out: 0,
            unread: Vec::new(),
            wire: Wire::new(forms),
            scope,
        };
        let mut chains = Chains::default();
        let mut asked: Vec<(ChainId, OpenTake<'a>)> = Vec::new();
        for arrival in &stream.requests {
            asked.extend(recording.ask(arrival, &mut chains));
        }
        let mut followers: BTreeMap<ChainId, &[u8]> = BTreeMap::new();
        let body = |asked: &OpenTake<'a>| asked.arrival.exchange.body.as_slice();
        let mut next: Vec<Option<&[u8]>> =
            asked.iter().rev().map(|(chain, asked)| followers.insert(*chain, body(asked))).collect();
        for (_, asked) in asked {
            let answer = recording.answer(asked.arrival, asked.messages, next.pop().flatten());
            recording.takes.push(Take { answer, ..asked.take });
        }
        recording
    }

    /// A model that plays it.
    pub fn play(self, fidelity: Fidelity) -> Recorded {
        Recorded::new(self.wire, &self.scope, self.takes, fidelity)
    }

    fn ask<'a>(&mut self, arrival: &'a Arrival<'a>, chains: &mut Chains) -> Option<(ChainId, OpenTake<'a>)> {
        let exchange = arrival.exchange;
        if exchange.dialect != Dialect::Messages {
            self.unread.push(format!(
                "{}: {} is no request that our agents send",
                place(exchange),
                exchange.dialect.name()
            ));
            return None;
        }
        match self.wire.read(&exchange.body, &self.scope, &exchange.model) {
            Err(why) => {
                self.unread.push(format!("{}: {why}", place(exchange)));
                None
            }
            Ok(request) => {
                let chain = chains.assign(exchange.chain.as_deref(), &request, &self.wire).chain;
                let take = Take { chain: format!("chain-{}", chain.0).into(), request, answer: Answer::default() };
                Some((chain, OpenTake { arrival, take, messages: messages(&exchange.body).len() }))
            }
        }
    }

    fn answer(&mut self, arrival: &Arrival<'_>, messages_before: usize, next: Option<&[u8]>) -> Answer {
        let exchange = arrival.exchange;
        if let Some(status) = exchange.status.filter(|_| exchange.failed()) {
            let (kind, message) = ("api_error".into(), "as recorded".into());
            let refused = CallError::Refused { status, kind, message, retry_after: None };
            return Answer { fault: Some(Fault::Refusal(refused)), ..Answer::default() };
        }
        let said = next.and_then(|body| {
            let message = messages(body).into_iter().nth(messages_before)?;
            (member_text(message, "role")? == "assistant").then_some(message)
        });
        let id = format!("msg_{:06}", self.takes.len());
        let events = match said {
            Some(message) => self.events(&id, message),
            None => {
                self.unknown_answers += 1;
                unknown(&id)
            }
        };
        let usage = exchange.usage.filter(|usage| !usage.output_is_start_value);
        let times = exchange.sent_at.and(exchange.first_byte_at).is_some();
        Answer {
            events,
            output_tokens: usage.map(|usage| usage.usage.output_tokens),
            fault: None,
            first_byte: times.then(|| arrival.times.first_byte_at.since(arrival.times.at)),
            streaming: exchange.ended_at.filter(|_| times).map(|ended| ended.since(arrival.times.first_byte_at)),
        }
    }

    /// The events of a message.
    fn events(&mut self, id: &str, message: &[u8]) -> Vec<Event> {
        let mut events = vec![Event::MessageStart { id: id.into(), usage: Usage::default() }];
        let mut calls = false;
        let content = member(message, "content").unwrap_or_default();
        let blocks: Vec<(Opened, Vec<Delta>)> = match text(content) {
            Some(text) => vec![(Opened::Text, vec![Delta::Text((*text).into())])],
            None => elements(content).filter_map(|block| self.block(block)).collect(),
        };
        for (index, (block, deltas)) in blocks.into_iter().enumerate() {
            calls |= matches!(block, Opened::ToolUse { .. });
            events.push(Event::BlockStart { index, block });
            events.extend(deltas.into_iter().map(|delta| Event::BlockDelta { index, delta }));
            events.push(Event::BlockStop { index });
        }
        let stop_reason = Some(if calls { StopReason::ToolUse } else { StopReason::EndTurn });
        events.push(Event::MessageDelta { stop_reason, usage: Usage::default() });
        events.push(Event::MessageStop);
        events
    }

    fn block(&mut self, block: &[u8]) -> Option<(Opened, Vec<Delta>)> {
        let field = |name: &str| member_text(block, name).map(|text| Rc::<str>::from(&*text));
        let said = match member_text(block, "type").as_deref() {
            Some("text") => field("text").map(|text| (Opened::Text, vec![Delta::Text(text)])),
            Some("thinking") => field("thinking").zip(field("signature")).map(|(thinking, signature)| {
                (Opened::Thinking, vec![Delta::Thinking(thinking), Delta::Signature(signature)])
            }),
            Some("tool_use") => field("id").zip(field("name")).map(|(id, name)| {
                let input = member(block, "input").and_then(|input| std::str::from_utf8(input).ok()).unwrap_or("{}");
                (Opened::ToolUse { id, name }, vec![Delta::InputJson(input.trim().into())])
            }),
            _ => None,
        };
        self.blocks_left_out += usize::from(said.is_none());
        said
    }
}

fn place(exchange: &Exchange) -> String {
    format!("{}, request {}", exchange.origin.file, exchange.origin.index)
}

fn unknown(id: &str) -> Vec<Event> {
    Answer::message(id, &[Said::Text(UNKNOWN.to_owned())]).events
}

/// The messages of a body.
fn messages(body: &[u8]) -> Vec<&[u8]> {
    member(body, "messages").into_iter().flat_map(elements).collect()
}
