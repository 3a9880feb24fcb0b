//! The forks of one message together.

use forkcast_scenarios::run::Run;
use serde::Serialize;

use super::super::number::Usd;
use super::super::usage::UsageObject;
use super::request::CauseObject;
use crate::forks::{FanOut, Miss, Reports, fan_outs};

#[derive(Serialize)]
pub(super) struct FanOutObject<'a> {
    parent: Option<&'a str>,
    continues: Option<usize>,
    forks: Vec<&'a str>,
    requests: u64,
    usage: UsageObject,
    hit_rate: Option<f64>,
    cost_usd: Option<Usd>,
    cost_without_cache_usd: Option<Usd>,
    cost_cold_usd: Option<Usd>,
    read_from_parent_tokens: u64,
    own_tokens: u64,
    reports: ReportsObject,
    misses: Vec<MissObject>,
}

#[derive(Serialize)]
struct ReportsObject {
    well_formed: u64,
    malformed: u64,
    missing: u64,
}

#[derive(Serialize)]
struct MissObject {
    forks: u64,
    #[serde(flatten)]
    cause: CauseObject,
}

/// All fan-outs of a run.
pub(super) fn all(run: &Run) -> Vec<FanOutObject<'_>> {
    fan_outs(run).iter().map(|found| FanOutObject::of(run, found)).collect()
}

impl<'a> FanOutObject<'a> {
    fn of(run: &'a Run, found: &FanOut<'_>) -> Self {
        let id = |agent: usize| run.agents.get(agent).map(|agent| &*agent.id);
        let (sums, shares) = (&found.sums, || found.shares.iter().flatten());
        let Reports { well_formed, malformed, missing } = found.reports;
        Self {
            parent: found.parent.and_then(id),
            continues: found.continues,
            forks: found.forks.iter().filter_map(|fork| id(*fork)).collect(),
            requests: sums.requests,
            usage: (&sums.usage).into(),
            hit_rate: sums.usage.hit_rate(),
            cost_usd: sums.cost.map(Usd),
            cost_without_cache_usd: sums.cost_without_cache.map(Usd),
            cost_cold_usd: found.cost_cold.map(Usd),
            read_from_parent_tokens: shares().map(|share| share.read_tokens).sum(),
            own_tokens: shares().map(|share| share.own_tokens).sum(),
            reports: ReportsObject { well_formed, malformed, missing },
            misses: found.misses.iter().map(MissObject::of).collect(),
        }
    }
}

impl MissObject {
    fn of(miss: &Miss<'_>) -> Self {
        Self { forks: miss.forks, cause: CauseObject::of(miss.cause, miss.tokens, miss.cost, miss.difference) }
    }
}
