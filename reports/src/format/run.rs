//! `forkcast.run/1`: one run of a scenario.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_scenarios::run::{Agent, Request, Run};
use serde::Serialize;

use super::number::{Millis, Usd};
use super::usage::UsageObject;
use crate::document::csv;

/// Name and version.
pub const SCHEMA: &str = "forkcast.run/1";

/// Writes a run as one JSON object; `failures` are the claims that did not hold.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, failures: &[String], target: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *target, &RunObject::of(run, failures))?;
    writeln!(target)
}

#[derive(Serialize)]
struct RunObject<'a> {
    schema: &'static str,
    scenario: &'a str,
    seed: u64,
    options: OptionsObject<'a>,
    price_book: &'a str,
    digest: String,
    ends: &'static str,
    message: Option<&'a str>,
    agents: Vec<AgentObject<'a>>,
    requests: Vec<RequestObject<'a>>,
    totals: TotalsObject,
    laws: BTreeMap<&'static str, bool>,
    failures: &'a [String],
    pending: Vec<PendingObject<'a>>,
}

#[derive(Serialize)]
struct OptionsObject<'a> {
    set: &'a [String],
    interleave: Option<u64>,
    cache: &'static str,
    breakpoints: &'static str,
    ttl: &'static str,
    declared_sizes: bool,
}

#[derive(Serialize)]
struct AgentObject<'a> {
    id: &'a str,
    kind: &'static str,
    agent_type: &'a str,
    name: Option<&'a str>,
    parent: Option<&'a str>,
    background: bool,
    turns: u32,
    usage: UsageObject,
    cost_usd: Option<Usd>,
    state: &'a str,
    reason: Option<&'a str>,
    began_ms: Millis,
    ended_ms: Option<Millis>,
}

#[derive(Serialize)]
struct RequestObject<'a> {
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
    verdict: &'static str,
    causes: Vec<CauseObject>,
}

#[derive(Serialize)]
struct CauseObject {
    cause: &'static str,
    tokens: u64,
}

#[derive(Serialize)]
struct TotalsObject {
    requests: u64,
    usage: UsageObject,
    hit_rate: Option<f64>,
    cost_usd: Option<Usd>,
    cost_without_cache_usd: Option<Usd>,
    makespan_ms: Millis,
}

#[derive(Serialize)]
struct PendingObject<'a> {
    step: &'a str,
    needs: &'a str,
}

impl<'a> RunObject<'a> {
    fn of(run: &'a Run, failures: &'a [String]) -> Self {
        let scenario = &run.scenario;
        let (totals, pending) = (run.totals(), &scenario.expect.pending);
        Self {
            schema: SCHEMA,
            scenario: &scenario.name,
            seed: scenario.seed,
            options: OptionsObject::of(run),
            price_book: &run.price_book,
            digest: format!("{:032x}", run.digest),
            ends: run.ends.word(),
            message: run.message.as_deref(),
            agents: run.agents.iter().enumerate().map(|(at, agent)| AgentObject::of(run, at, agent)).collect(),
            requests: run.requests.iter().map(|request| RequestObject::of(run, request)).collect(),
            totals: TotalsObject {
                requests: totals.requests,
                usage: (&totals.usage).into(),
                hit_rate: totals.usage.hit_rate(),
                cost_usd: totals.cost.map(Usd),
                cost_without_cache_usd: totals.cost_without_cache.map(Usd),
                makespan_ms: Millis(run.makespan),
            },
            laws: run.laws.iter().copied().collect(),
            failures,
            pending: pending.iter().map(|step| PendingObject { step: &step.step, needs: &step.needs }).collect(),
        }
    }
}

impl<'a> OptionsObject<'a> {
    fn of(run: &'a Run) -> Self {
        let settings = forkcast_scenarios::load::settings(&run.scenario);
        Self {
            set: &run.options.set,
            interleave: run.options.interleave,
            cache: run.scenario.cache.unwrap_or_default().name,
            breakpoints: forkcast_scenarios::format::session::placement_name(settings.placement),
            ttl: forkcast_scenarios::format::session::ttl_name(settings.ttl),
            declared_sizes: run.scenario.prompt.sizes.is_some(),
        }
    }
}

impl<'a> AgentObject<'a> {
    fn of(run: &'a Run, at: usize, agent: &'a Agent) -> Self {
        let sums = run.sums_of(at);
        Self {
            id: &agent.id,
            kind: if agent.parent.is_none() { "main" } else { "named" },
            agent_type: &agent.agent_type,
            name: agent.name.as_deref(),
            parent: agent.parent.as_deref(),
            background: agent.background,
            turns: agent.turns,
            usage: (&sums.usage).into(),
            cost_usd: sums.cost.map(Usd),
            state: agent.state,
            reason: agent.reason,
            began_ms: Millis(agent.began),
            ended_ms: agent.ended.map(Millis),
        }
    }
}

impl<'a> RequestObject<'a> {
    fn of(run: &'a Run, request: &'a Request) -> Self {
        let line = &request.line;
        let agent = run.agents.get(request.agent).map_or("main", |agent| &agent.id);
        let causes = request.causes();
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
            verdict: request.verdict.word(),
            causes: causes.into_iter().map(|(cause, tokens)| CauseObject { cause: cause.word(), tokens }).collect(),
        }
    }
}

const COLUMNS: [&str; 17] = [
    "index",
    "agent",
    "agent_type",
    "turn",
    "attempt",
    "model",
    "at_ms",
    "first_byte_ms",
    "input_tokens",
    "cache_read_input_tokens",
    "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens",
    "output_tokens",
    "cost_usd",
    "cost_without_cache_usd",
    "verdict",
    "causes",
];

/// Writes the requests as comma-separated values.
///
/// # Errors
/// When the target cannot be written.
pub fn requests(run: &Run, target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, COLUMNS)?;
    run.requests.iter().try_for_each(|request| csv::row(target, row(run, request)))
}

fn row(run: &Run, request: &Request) -> Vec<String> {
    let line = &request.line;
    let agent = run.agents.get(request.agent);
    let millis = |at: Option<forkcast_sim::time::Instant>| at.map(|at| Millis(at).to_string()).unwrap_or_default();
    let causes: Vec<&str> = request.causes().iter().map(|(cause, _)| cause.word()).collect();
    let mut row = vec![
        line.index.to_string(),
        agent.map(|agent| agent.id.to_string()).unwrap_or_default(),
        agent.map(|agent| agent.agent_type.to_string()).unwrap_or_default(),
        request.turn.to_string(),
        request.attempt.to_string(),
        line.model.clone(),
        millis(line.at),
        millis(line.first_byte_at),
    ];
    row.extend(super::requests::usage(Some(&request.usage())));
    row.extend([
        request.cost().map(|cost| cost.to_string()).unwrap_or_default(),
        request.cost_without_cache.map(|cost| cost.to_string()).unwrap_or_default(),
        request.verdict.word().to_owned(),
        causes.join(" "),
    ]);
    row
}
