//! The requests of a run as a proxy between agents and provider would record them.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::exchange::{BreakOff, Exchange, Origin, RecordedAnswer, RecordedUsage};
use forkcast_replay::formats::Format;
use forkcast_replay::input::{FileInput, Inputs, ScopeInput};
use forkcast_replay::response::events;
use forkcast_sim::model::answer::{Fault, Interruption};
use forkcast_sim::model::{Broken, CallError};
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::Passage;
use forkcast_sim::wire::Draft;
use serde_json::json;

use crate::run::{Agent, Request, Run};

/// A run as a recording. All its requests share a cache, and each agent is a chain.
#[derive(Debug)]
pub struct Recorder<'a> {
    run: &'a Run,
    /// Each agent by its id.
    agents: BTreeMap<&'a str, &'a Agent>,
    /// The labels of agents distinguish them.
    are_labelled: bool,
}

impl<'a> Recorder<'a> {
    /// Records `run`.
    pub fn new(run: &'a Run) -> Self {
        let labels: BTreeSet<&str> = run.agents.iter().map(|agent| &*agent.label).collect();
        let agents = run.agents.iter().map(|agent| (&*agent.id, agent)).collect();
        Self { run, agents, are_labelled: labels.len() == run.agents.len() }
    }

    /// The requests of the ledger, one after the other, as an input.
    pub fn inputs(&self) -> Inputs {
        let file = self.run.scenario.file.to_string();
        let mut recount = self.run.recount();
        let exchanges = self.run.requests.iter().map(|request| {
            let draft = request.draft();
            let sizes = Some(recount.cumulative(&draft));
            Exchange { body: draft.body(), sizes, ..self.request(request) }
        });
        let mut exchanges: Vec<Exchange> = exchanges.collect();
        Exchange::mark_unanswered(&mut exchanges);
        let bytes = exchanges.iter().map(|exchange| exchange.body.len() as u64).sum();
        let input = FileInput { file, format: Format::Bodies, exchanges, traces: Vec::new(), notes: Vec::new() };
        let scope = ScopeInput { name: self.run.scenario.name.to_string(), files: vec![input] };
        Inputs { files: 1, bytes, scopes: vec![scope], ..Inputs::default() }
    }

    /// A request of the ledger, without its body and its sizes.
    pub fn request(&self, request: &Request) -> Exchange {
        let line = &request.line;
        let origin = Origin { file: self.run.scenario.file.to_string(), index: line.index, line: 0 };
        let exchange = Exchange {
            sent_at: line.at,
            first_byte_at: line.first_byte_at,
            ended_at: request.ended_at,
            usage: usage(request).filter(|_| line.first_byte_at.is_some()),
            given_up: is_given_up(&request.entry),
            ..Exchange::request_only(origin, line.model.clone(), Vec::new())
        };
        let sent = self.sent_by(self.run.agents.get(request.agent), exchange);
        Exchange { continues: self.continues(request), ..sent }
    }

    /// All calls of a run that kept its traffic, in the order in which they were sent: bodies, answers event by event,
    /// instants, and what the ledger bills.
    pub fn calls(&self) -> impl Iterator<Item = Exchange> {
        let traffic = self.run.traffic.iter().enumerate();
        let positions: BTreeMap<usize, usize> =
            traffic.clone().filter_map(|(index, passage)| Some((passage.line?, index))).collect();
        let mut recount = self.run.recount();
        traffic.filter_map(move |(index, passage)| {
            let request = passage.line.and_then(|line| self.run.requests.get(line));
            let draft = passage.draft.clone().or_else(|| Some(request?.draft()))?;
            let origin = Origin { file: self.run.scenario.file.to_string(), index, line: 0 };
            let call = exchange(origin, passage, &draft, request.map(|request| &request.entry));
            let continues = request.and_then(|request| self.continues(request));
            Some(Exchange {
                continues: continues.and_then(|line| positions.get(&line)).copied(),
                sizes: request.is_some().then(|| recount.cumulative(&draft)),
                ..self.sent_by(self.agents.get(&*passage.agent).copied(), call)
            })
        })
    }

    fn sent_by(&self, agent: Option<&Agent>, exchange: Exchange) -> Exchange {
        let parent = agent.and_then(|agent| self.agents.get(agent.parent.as_deref()?));
        Exchange {
            chain: agent.map(|agent| self.name(agent)),
            parent: parent.map(|parent| self.name(parent)),
            agent_kind: agent.map(|agent| agent.kind_name().to_owned()),
            scope: Some(self.run.scenario.name.to_string()),
            ..exchange
        }
    }

    /// The run.
    pub const fn run(&self) -> &'a Run {
        self.run
    }

    /// The name of an agent in everything that is recorded of the run.
    pub fn name(&self, agent: &Agent) -> String {
        if self.are_labelled { agent.label.clone() } else { agent.id.to_string() }
    }

    /// The request of another agent that this one continues, by its line in the ledger.
    fn continues(&self, request: &Request) -> Option<usize> {
        request.layout.continues.filter(|line| self.run.requests[*line].agent != request.agent)
    }
}

/// It was cancelled before the first byte of its answer.
const fn is_given_up(entry: &Entry) -> bool {
    entry.ended_at.is_some() && entry.line.first_byte_at.is_none()
}

/// The usage that was billed.
fn usage(entry: &Entry) -> Option<RecordedUsage> {
    let usage = entry.line.billed().filter(|usage| usage.total_input_tokens() > 0)?;
    Some(RecordedUsage { usage, split_by_ttl: true, ..RecordedUsage::default() })
}

/// One call: `entry` is its line in the ledger, if it has one.
pub fn exchange(origin: Origin, passage: &Passage, draft: &Draft, entry: Option<&Entry>) -> Exchange {
    let answer = &passage.answer;
    let (status, body) = match &answer.fault {
        Some(Fault::Refusal(error)) => (refused(error), error_body(error)),
        _ => (answer.first_byte.map(|_| 200), events::stream(&draft.model, &answer.events)),
    };
    let first_byte_at = answer.first_byte.map(|wait| passage.at + wait);
    let is_refused = matches!(answer.fault, Some(Fault::Refusal(_)));
    let kept = RecordedAnswer {
        body: body.into_bytes(),
        events_at: answer.arrivals.iter().filter_map(|after| Some(first_byte_at? + *after)).collect(),
        break_off: answer.fault.as_ref().and_then(break_off),
        retry_after: match &answer.fault {
            Some(Fault::Refusal(CallError::Refused { retry_after, .. })) => *retry_after,
            _ => None,
        },
    };
    Exchange {
        sent_at: Some(passage.at),
        first_byte_at: first_byte_at.filter(|_| !is_refused),
        ended_at: if is_refused { first_byte_at } else { entry.and_then(|entry| entry.ended_at) },
        status,
        usage: entry.and_then(usage),
        given_up: entry.is_some_and(is_given_up),
        answer: Some(Box::new(kept)),
        ..Exchange::request_only(origin, draft.model.to_string(), draft.body())
    }
}

const fn refused(error: &CallError) -> Option<u16> {
    match error {
        CallError::Refused { status, .. } => Some(*status),
        CallError::Lost => None,
    }
}

fn error_body(error: &CallError) -> String {
    match error {
        CallError::Refused { kind, message, .. } => {
            json!({ "type": "error", "error": { "type": **kind, "message": **message } }).to_string()
        }
        CallError::Lost => String::new(),
    }
}

/// How an answer ended that is not whole. A provider's `error` event is part of the stream.
const fn break_off(fault: &Fault) -> Option<BreakOff> {
    match fault {
        Fault::Refusal(CallError::Lost) => Some(BreakOff::Lost),
        Fault::Interruption { how: Interruption::Broken(Broken::Reset), .. } => Some(BreakOff::Reset),
        Fault::Interruption { how: Interruption::Broken(Broken::Silent), .. } => Some(BreakOff::Silent),
        Fault::Interruption { how: Interruption::Closed, .. } => Some(BreakOff::Closed),
        Fault::Interruption { how: Interruption::GivenUp, .. } => Some(BreakOff::GivenUp),
        Fault::Refusal(CallError::Refused { .. }) | Fault::Interruption { how: Interruption::Error { .. }, .. } => None,
    }
}
