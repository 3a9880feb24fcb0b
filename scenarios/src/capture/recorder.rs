//! The calls of a run with their answers, as a proxy between agents and provider would record them.

use forkcast_replay::exchange::{BreakOff, Exchange, Origin, RecordedAnswer, RecordedUsage};
use forkcast_replay::response::events;
use forkcast_sim::model::answer::{Fault, Interruption};
use forkcast_sim::model::{Broken, CallError};
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::Passage;
use forkcast_sim::wire::Draft;
use serde_json::json;

use crate::run::Run;

/// All calls of a run that kept its traffic, in the order in which they were sent: bodies, answers event by event, instants,
/// and what the ledger bills. Agents are named by their labels.
pub fn exchanges(run: &Run) -> impl Iterator<Item = Exchange> {
    run.traffic.iter().enumerate().filter_map(|(index, passage)| {
        let request = passage.line.and_then(|line| run.requests.get(line));
        let draft = passage.draft.clone().or_else(|| Some(request?.draft()))?;
        let agent = run.agents.iter().find(|agent| agent.id == passage.agent);
        let parent = agent.and_then(|agent| agent.parent.as_ref());
        let parent = parent.and_then(|id| run.agents.iter().find(|known| known.id == *id));
        let origin = Origin { file: run.scenario.file.to_string(), index, line: 0 };
        Some(Exchange {
            chain: Some(agent.map_or_else(|| passage.agent.to_string(), |agent| agent.label.clone())),
            parent: parent.map(|parent| parent.label.clone()),
            scope: Some(run.scenario.name.to_string()),
            ..exchange(origin, passage, &draft, request.map(|request| &request.entry))
        })
    })
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
    let usage = entry.and_then(|entry| entry.line.billed()).filter(|usage| usage.total_input_tokens() > 0);
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
        usage: usage.map(|usage| RecordedUsage { usage, split_by_ttl: true, ..RecordedUsage::default() }),
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
