//! A report as files of other programs: viewers of traces and of stacks, and collectors of telemetry. They contain names,
//! times, tokens and money, and no text of prompts.
//!
//! * [`trace`]: Chrome's trace events, for Perfetto, Firefox Profiler and speedscope.
//! * [`stacks`]: collapsed stacks, for flame graphs.
//! * [`otlp`]: OpenTelemetry spans in JSON, with the `gen_ai` conventions.

pub mod otlp;
pub mod stacks;
pub mod trace;

use crate::report::{Agent, Recorded, Report, Session};
use forkcast_sim::time::Instant;

/// The agent of a request and those that started it, the first of them first.
fn line_of<'s>(session: &'s Session, id: &str) -> Vec<&'s Agent> {
    let mut line: Vec<&Agent> = session.agents.iter().filter(|agent| agent.id == id).take(1).collect();
    while let Some(parent) = line.last().and_then(|last| session.agents.get(last.parent?)) {
        // Only damage makes a cycle.
        if line.iter().any(|known| known.id == parent.id) {
            break;
        }
        line.push(parent);
    }
    line.reverse();
    line
}

/// When something began and ended.
#[derive(Clone, Copy, Debug)]
struct Times {
    at: Instant,
    ended: Instant,
}

/// When a request was sent and when its answer ended; `None` if the recording has no times.
fn times(entry: &Recorded<'_>) -> Option<Times> {
    let at = entry.line.at?;
    let ended = entry.exchange.and_then(|exchange| exchange.ended_at);
    let ended = ended.or_else(|| entry.answered?.answer.ended_at).or(entry.line.first_byte_at);
    Some(Times { at, ended: ended.map_or(at, |ended| ended.max(at)) })
}

/// The id of the agent that sent a request.
fn agent_of<'r>(report: &'r Report<'_>, entry: &Recorded<'_>) -> &'r str {
    report.agent_of(entry).unwrap_or("unknown")
}
