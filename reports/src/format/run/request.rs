//! Requests of a run: as objects, and as comma-separated values.

use std::io::{self, Write};

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::diagnosis::{Cause, Difference};
use forkcast_sim::pricing::Money;
use serde::Serialize;

use super::super::number::{Millis, Usd, cell};
use super::super::usage::{self, UsageObject};
use crate::document::csv;
use crate::forks::difference_of;

#[derive(Serialize)]
pub(super) struct RequestObject<'a> {
    index: usize,
    agent: &'a str,
    chain: &'a str,
    turn: u32,
    attempt: u32,
    model: &'a str,
    at_ms: Option<Millis>,
    first_byte_ms: Option<Millis>,
    ended_ms: Option<Millis>,
    usage: UsageObject,
    cost_usd: Option<Usd>,
    continues: Option<usize>,
    expected_tokens: Option<u64>,
    shared_tokens: u64,
    level_ends: LevelEndsObject,
    verdict: &'static str,
    causes: Vec<CauseObject>,
}

/// Where levels end, in tokens from the start of the prompt.
#[derive(Serialize)]
struct LevelEndsObject {
    tools: u64,
    system: u64,
    messages: u64,
}

/// A cause, and of a content cause where the change stands, in the words of `forkcast.diff/1` and `forkcast.explain/1`.
#[derive(Serialize)]
pub(super) struct CauseObject {
    cause: &'static str,
    tokens: u64,
    cost_usd: Option<Usd>,
    level: Option<&'static str>,
    path: Option<String>,
    name: Option<String>,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    volatile: Option<&'static str>,
    provider_reason: Option<&'static str>,
    suggestion: &'static str,
}

impl CauseObject {
    pub fn of(cause: Cause, tokens: u64, cost: Option<Money>, found: Option<&Difference>) -> Self {
        Self {
            cause: cause.word(),
            tokens,
            cost_usd: cost.map(Usd),
            level: found.map(|found| found.level.name()),
            path: found.map(|found| found.path.clone()),
            name: found.map(|found| found.name.clone()),
            offset_in_block: found.and_then(|found| found.offset_in_block),
            offset_in_prefix: found.and_then(|found| found.offset_in_prefix),
            volatile: found.and_then(|found| found.volatile).map(|volatile| volatile.word()),
            provider_reason: cause.provider_reason(),
            suggestion: cause.suggestion(),
        }
    }
}

impl<'a> RequestObject<'a> {
    pub fn of(run: &'a Run, request: &'a Request) -> Self {
        let (line, layout) = (&request.line, &request.layout);
        let agent = run.agents.get(request.agent).map_or("main", |agent| &agent.id);
        let [tools, system, messages] = layout.level_ends;
        Self {
            index: line.index,
            agent,
            chain: agent,
            turn: request.turn,
            attempt: request.attempt,
            model: &line.model,
            at_ms: line.at.map(Millis),
            first_byte_ms: line.first_byte_at.map(Millis),
            ended_ms: request.ended_at.map(Millis),
            usage: (&request.usage()).into(),
            cost_usd: request.cost().map(Usd),
            continues: layout.continues,
            expected_tokens: request.expected_tokens,
            shared_tokens: layout.shared_tokens,
            level_ends: LevelEndsObject { tools, system, messages },
            verdict: request.verdict.word(),
            causes: causes(request),
        }
    }
}

/// The causes, the most tokens first.
fn causes(request: &Request) -> Vec<CauseObject> {
    let cost_of = |cause: Cause| {
        let parts = request.line.charge.causes.iter().filter(|part| part.cause == cause);
        parts.map(|part| part.cost).reduce(|sum, cost| sum.zip(cost).map(|(sum, cost)| sum + cost)).flatten()
    };
    let causes = request.causes().into_iter();
    causes
        .map(|(cause, tokens)| CauseObject::of(cause, tokens, cost_of(cause), difference_of(request, cause)))
        .collect()
}

/// Columns before and behind those of usage.
const STANDING: [&str; 8] = ["index", "agent", "agent_type", "turn", "attempt", "model", "at_ms", "first_byte_ms"];
const FIGURES: [&str; 4] = ["cost_usd", "cost_without_cache_usd", "verdict", "causes"];

/// Writes the requests as comma-separated values.
///
/// # Errors
/// When the target cannot be written.
pub fn requests(run: &Run, target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, [&STANDING[..], &usage::COLUMNS, &FIGURES].concat())?;
    run.requests.iter().try_for_each(|request| csv::row(target, row(run, request)))
}

fn row(run: &Run, request: &Request) -> Vec<String> {
    let line = &request.line;
    let agent = run.agents.get(request.agent);
    let causes: Vec<&str> = request.causes().iter().map(|(cause, _)| cause.word()).collect();
    let mut row = vec![
        line.index.to_string(),
        agent.map(|agent| agent.id.to_string()).unwrap_or_default(),
        agent.map(|agent| agent.agent_type.to_string()).unwrap_or_default(),
        request.turn.to_string(),
        request.attempt.to_string(),
        line.model.clone(),
        cell(line.at.map(Millis)),
        cell(line.first_byte_at.map(Millis)),
    ];
    row.extend(usage::cells(Some(&request.usage())));
    row.extend([
        cell(request.cost()),
        cell(request.cost_without_cache),
        request.verdict.word().to_owned(),
        causes.join(" "),
    ]);
    row
}
