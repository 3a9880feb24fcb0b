//! Agents of a run, and what makes some of them forks.

use forkcast_scenarios::run::fork::{Fork, Reported};
use forkcast_scenarios::run::{Agent, Request, Sums};
use serde::Serialize;

use super::super::number::{Millis, Usd};
use super::super::usage::UsageObject;
use crate::forks::Share;

#[derive(Serialize)]
pub(super) struct AgentObject<'a> {
    id: &'a str,
    kind: &'static str,
    agent_type: &'a str,
    name: Option<&'a str>,
    parent: Option<&'a str>,
    background: bool,
    turns: u32,
    usage: UsageObject,
    hit_rate: Option<f64>,
    cost_usd: Option<Usd>,
    cost_without_cache_usd: Option<Usd>,
    state: &'a str,
    reason: Option<&'a str>,
    began_ms: Millis,
    ended_ms: Option<Millis>,
    fork: Option<ForkObject<'a>>,
}

/// What makes an agent a fork.
#[derive(Serialize)]
struct ForkObject<'a> {
    tool_use: &'a str,
    profile: &'static str,
    place: u32,
    ablations: &'a [&'static str],
    shared_tokens: Option<u64>,
    read_from_parent_tokens: Option<u64>,
    own_tokens: Option<u64>,
    report: Option<ReportObject<'a>>,
}

#[derive(Serialize)]
struct ReportObject<'a> {
    well_formed: bool,
    problem: Option<&'a str>,
}

impl<'a> AgentObject<'a> {
    /// The agent with the sums over its requests, the first of which is `first`.
    pub fn of(agent: &'a Agent, sums: &Sums, first: Option<&Request>) -> Self {
        Self {
            id: &agent.id,
            kind: agent.kind(),
            agent_type: &agent.agent_type,
            name: agent.name.as_deref(),
            parent: agent.parent.as_deref(),
            background: agent.background,
            turns: agent.turns,
            usage: (&sums.usage).into(),
            hit_rate: sums.usage.hit_rate(),
            cost_usd: sums.cost.map(Usd),
            cost_without_cache_usd: sums.cost_without_cache.map(Usd),
            state: agent.state,
            reason: agent.reason,
            began_ms: Millis(agent.began),
            ended_ms: agent.ended.map(Millis),
            fork: agent.fork.as_ref().map(|fork| ForkObject::of(fork, first.map(Share::of))),
        }
    }
}

impl<'a> ForkObject<'a> {
    fn of(fork: &'a Fork, share: Option<Share>) -> Self {
        Self {
            tool_use: &fork.tool_use,
            profile: fork.profile,
            place: fork.place,
            ablations: &fork.ablations,
            shared_tokens: share.map(|share| share.shared_tokens),
            read_from_parent_tokens: share.map(|share| share.read_tokens),
            own_tokens: share.map(|share| share.own_tokens),
            report: fork.report.as_ref().map(ReportObject::of),
        }
    }
}

impl<'a> ReportObject<'a> {
    fn of(report: &'a Reported) -> Self {
        Self { well_formed: report.problem.is_none(), problem: report.problem.as_deref() }
    }
}
