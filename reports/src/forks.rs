//! Forks of a run: what each shares with its parent, and fan-outs, the forks of one message together.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use forkcast_scenarios::run::{Agent, Request, Run, Sums};
use forkcast_sim::diagnosis::{Cause, Difference};
use forkcast_sim::pricing::Money;

/// The parts of a fork's first request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Tokens of the prefix shared with its parent's last request.
    pub shared_tokens: u64,
    /// How many of these were read from the cache.
    pub read_tokens: u64,
    /// Tokens after that prefix.
    pub own_tokens: u64,
}

/// The forks of one message.
#[derive(Clone, Debug)]
pub struct FanOut<'a> {
    /// The parent, as an index into the run's agents; `None` if it is not among them.
    pub parent: Option<usize>,
    /// The parent's last request before the forks; `None` if no fork sent a request.
    pub continues: Option<usize>,
    /// The forks, as indices into the run's agents.
    pub forks: Vec<usize>,
    /// Sums over all requests of the forks.
    pub sums: Sums,
    /// The bill if each of them had found an empty cache at its first request, and continued unchanged.
    pub cost_cold: Option<Money>,
    /// The shared part of each fork's first request, in step with `forks`; `None` for a fork without requests.
    pub shares: Vec<Option<Share>>,
    /// Tokens that first requests did not read though they had been sent before, the dearest first.
    pub misses: Vec<Miss<'a>>,
    /// Reports, by their state.
    pub reports: Reports,
}

/// Tokens that first requests of a fan-out missed for one cause at one place.
#[derive(Clone, Debug)]
pub struct Miss<'a> {
    /// Why.
    pub cause: Cause,
    /// What differs from the parent's last request, in the first such fork; `None` for a cause of time or of rules.
    pub difference: Option<&'a Difference>,
    /// Forks that missed for it.
    pub forks: u64,
    /// Tokens.
    pub tokens: u64,
    /// Their cost over the read price; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// States of the reports of some forks (contract FORK-41, FORK-42).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// All labels are there, in order.
    pub well_formed: u64,
    /// Something is wrong.
    pub malformed: u64,
    /// There is none.
    pub missing: u64,
}

impl Share {
    /// The share of a fork's first request.
    pub fn of(first: &Request) -> Self {
        let shared_tokens = first.layout.shared_tokens;
        Self {
            shared_tokens,
            read_tokens: first.usage().cache_read_input_tokens.min(shared_tokens),
            own_tokens: first.layout.level_ends[2].saturating_sub(shared_tokens),
        }
    }
}

/// The difference that a cause of content names.
pub fn difference_of(request: &Request, cause: Cause) -> Option<&Difference> {
    let differences = &request.line.explanation.as_ref()?.differences;
    differences.iter().find(|found| found.cause == cause && cause.is_change())
}

/// The first request of every agent, in step with the run's agents.
pub fn first_requests(run: &Run) -> Vec<Option<&Request>> {
    let mut first = vec![None; run.agents.len()];
    for request in &run.requests {
        if let Some(first @ None) = first.get_mut(request.agent) {
            *first = Some(request);
        }
    }
    first
}

/// The fan-outs of a run, in the order of their first forks among the agents.
pub fn fan_outs(run: &Run) -> Vec<FanOut<'_>> {
    let first = first_requests(run);
    let mut order: Vec<(Option<&str>, Option<usize>)> = Vec::new();
    let mut groups: BTreeMap<(Option<&str>, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (at, agent) in run.agents.iter().enumerate().filter(|(_, agent)| agent.fork.is_some()) {
        let key = (agent.parent.as_deref(), first[at].and_then(|first| first.layout.continues));
        let group = groups.entry(key).or_default();
        if group.is_empty() {
            order.push(key);
        }
        group.push(at);
    }
    let mut requests: Vec<Vec<&Request>> = vec![Vec::new(); run.agents.len()];
    for request in &run.requests {
        requests[request.agent].push(request);
    }
    let made = order.into_iter().map(|key| {
        let forks = groups.remove(&key).unwrap_or_default();
        let parent = run.agents.iter().position(|agent| Some(&*agent.id) == key.0);
        fan_out(run, parent, key.1, forks, &requests)
    });
    made.collect()
}

fn fan_out<'a>(
    run: &'a Run,
    parent: Option<usize>,
    continues: Option<usize>,
    forks: Vec<usize>,
    requests: &[Vec<&'a Request>],
) -> FanOut<'a> {
    let first = || forks.iter().map(|fork| requests[*fork].first().copied());
    let all = forks.iter().flat_map(|fork| requests[*fork].iter().copied());
    let begun = Sums::of(first().flatten());
    let sums = Sums::of(all);
    let later = sums.cost.zip(begun.cost).map(|(all, begun)| all - begun);
    FanOut {
        parent,
        continues,
        cost_cold: later.zip(begun.cost_cold).map(|(later, cold)| later + cold),
        shares: first().map(|first| first.map(Share::of)).collect(),
        misses: misses(first().flatten()),
        reports: Reports::of(forks.iter().filter_map(|fork| run.agents.get(*fork))),
        sums,
        forks,
    }
}

fn misses<'a>(first: impl Iterator<Item = &'a Request>) -> Vec<Miss<'a>> {
    let mut found: BTreeMap<(Cause, Option<&str>), Miss<'_>> = BTreeMap::new();
    for request in first {
        for part in &request.line.charge.causes {
            let difference = difference_of(request, part.cause);
            let key = (part.cause, difference.map(|found| &*found.path));
            let none =
                Miss { cause: part.cause, difference, forks: 0, tokens: 0, cost: part.cost.map(|_| Money::ZERO) };
            let miss = found.entry(key).or_insert(none);
            miss.forks += 1;
            miss.tokens += part.tokens;
            miss.cost = miss.cost.zip(part.cost).map(|(sum, cost)| sum + cost);
        }
    }
    let mut misses: Vec<Miss<'_>> = found.into_values().collect();
    misses.sort_by_key(|miss| std::cmp::Reverse((miss.cost, miss.tokens)));
    misses
}

impl Reports {
    fn of<'a>(forks: impl Iterator<Item = &'a Agent>) -> Self {
        let mut reports = Self::default();
        for report in forks.filter_map(|agent| agent.fork.as_ref()).map(|fork| &fork.report) {
            *match report {
                None => &mut reports.missing,
                Some(report) if report.problem.is_some() => &mut reports.malformed,
                Some(_) => &mut reports.well_formed,
            } += 1;
        }
        reports
    }
}

impl FanOut<'_> {
    /// The smallest and the largest value of the shares.
    pub fn range(&self, of: impl Fn(&Share) -> u64) -> Option<RangeInclusive<u64>> {
        let values = || self.shares.iter().flatten().map(&of);
        Some(values().min()?..=values().max()?)
    }
}
