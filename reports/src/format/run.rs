//! `forkcast.run/1`: one run of a scenario.

mod agent;
mod fan_out;
mod request;

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_replay::calibrate::{Generation, Quality, built_in_residual};
use forkcast_scenarios::run::Run;
use serde::Serialize;

pub use request::requests;

use super::json_text;
use super::number::{Millis, Usd};
use super::own_prices::OwnPricesObject;
use super::replay::ReplayObject;
use super::usage::UsageObject;
use crate::forks::first_requests;
use crate::names::Names;
use crate::report::{Report, statement_of_run};
use agent::AgentObject;
use fan_out::FanOutObject;
use request::RequestObject;

/// Name and version.
pub const SCHEMA: &str = "forkcast.run/1";

/// Writes a run as one JSON object; `failures` are the claims that did not hold.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, failures: &[String], target: &mut dyn Write) -> io::Result<()> {
    write_with(run, failures, None, target)
}

/// The same with what its requests are as a replay, where that was asked for.
///
/// # Errors
/// When the target cannot be written.
pub fn write_with(
    run: &Run,
    failures: &[String],
    report: Option<&Report<'_>>,
    target: &mut dyn Write,
) -> io::Result<()> {
    let replay = report.map(ReplayObject::of);
    json_text::pretty(target, &RunObject { replay, ..RunObject::of(run, failures) })?;
    writeln!(target)
}

#[derive(Serialize)]
struct RunObject<'a> {
    schema: &'static str,
    scenario: &'a str,
    seed: u64,
    options: OptionsObject<'a>,
    sizes: SizesObject,
    price_book: String,
    digest: String,
    ends: &'static str,
    message: Option<&'a str>,
    agents: Vec<AgentObject<'a>>,
    requests: Vec<RequestObject<'a>>,
    fan_outs: Vec<FanOutObject<'a>>,
    totals: TotalsObject,
    laws: BTreeMap<&'static str, bool>,
    failures: &'a [String],
    pending: Vec<PendingObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<ReplayObject<'a>>,
}

#[derive(Serialize)]
struct OptionsObject<'a> {
    set: &'a [String],
    interleave: Option<u64>,
    cache: &'static str,
    breakpoints: &'static str,
    ttl: &'static str,
    prices_of: String,
    prices: OwnPricesObject,
    forks: ForksObject,
}

/// How forks are made, and when they start.
#[derive(Serialize)]
struct ForksObject {
    profile: &'static str,
    launch: String,
    ablations: Vec<&'static str>,
}

#[derive(Serialize)]
struct SizesObject {
    declared: BTreeMap<&'static str, u64>,
    counted: Vec<CountedObject>,
}

#[derive(Serialize)]
struct CountedObject {
    tokenizer: &'static str,
    quality: &'static str,
    error: Option<f64>,
    p90_error: Option<f64>,
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
            sizes: SizesObject::of(run),
            price_book: statement_of_run(run),
            digest: format!("{:032x}", run.digest),
            ends: run.ends.word(),
            message: run.message.as_deref(),
            agents: agents(run),
            requests: run.requests.iter().map(|request| RequestObject::of(run, request)).collect(),
            fan_outs: fan_out::all(run),
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
            replay: None,
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
            breakpoints: settings.placement.name(),
            ttl: settings.ttl.name(),
            prices_of: run.scenario.prices.map_or_else(|| run.book.version().to_owned(), |date| date.to_string()),
            prices: OwnPricesObject::of(&run.book, Names::Plain),
            forks: ForksObject {
                profile: settings.forks.profile.name(),
                launch: settings.forks.launch.name(),
                ablations: settings.forks.ablations.iter().map(|ablation| ablation.name()).collect(),
            },
        }
    }
}

fn agents(run: &Run) -> Vec<AgentObject<'_>> {
    let agents = run.agents.iter().zip(run.sums_of_agents()).zip(first_requests(run));
    agents.map(|((agent, sums), first)| AgentObject::of(agent, &sums, first)).collect()
}

impl SizesObject {
    fn of(run: &Run) -> Self {
        let counted = run.tokenizers().into_iter().map(|tokenizer| {
            let residual = Generation::of(tokenizer).map(built_in_residual);
            CountedObject {
                tokenizer: tokenizer.word(),
                quality: Quality::of(tokenizer).word(),
                error: residual.map(|residual| residual.sum_error),
                p90_error: residual.map(|residual| residual.p90_error),
            }
        });
        Self { declared: run.declared().collect(), counted: counted.collect() }
    }
}
