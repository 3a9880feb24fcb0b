//! Policies that would have made a run cheaper. Each is tried by running the scenario again: none is given that saves
//! nothing.

use std::collections::BTreeSet;
use std::ops::Deref;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::simulation::Agent;
use forkcast_sim::wire::Ttl;

use super::Run;
use super::play::{Billed, billed};
use crate::format::Scenario;
use crate::format::expect::Ends;

/// Runs with more requests are not repeated: up to a dozen repetitions would take several times as long as the run.
pub const REQUESTS_MAX: usize = 2_000;

/// A policy, and the bill of the run under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The options of `forkcast run` that set it.
    pub options: Vec<String>,
    /// The bill of the run as it was.
    pub before: Money,
    /// The bill of the same work under it.
    pub after: Money,
}

/// A change of the session, and its option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Breakpoints(Placement),
    Launch(LaunchPolicy),
    Lifetime(Ttl),
    /// Nothing is broken on purpose.
    Whole,
}

impl Change {
    fn option(self) -> String {
        match self {
            Self::Breakpoints(placement) => format!("--breakpoints {}", placement.name()),
            Self::Launch(launch) => format!("--launch {}", launch.name()),
            Self::Lifetime(ttl) => format!("--ttl {}", ttl.name()),
            Self::Whole => "--set session.forks.ablations=[]".to_owned(),
        }
    }

    fn apply(self, scenario: &mut Scenario) {
        let settings = &mut scenario.session.settings;
        match self {
            Self::Breakpoints(placement) => settings.placement = placement,
            Self::Launch(launch) => settings.forks.launch = launch,
            Self::Lifetime(ttl) => settings.ttl = ttl,
            Self::Whole => settings.forks.ablations.clear(),
        }
    }
}

/// The cheapest policy for the tokens that were missed for these causes; `None` if none that was tried saves anything, and
/// for runs that cannot be repeated.
pub fn remedy(run: &Run, causes: &BTreeSet<Cause>) -> Option<Remedy> {
    if !run.is_repeatable || run.ends != Ends::Finished || run.requests.len() > REQUESTS_MAX {
        return None;
    }
    let before = run.totals().cost.filter(|_| run.unpriced().is_empty())?;
    let tried =
        choices(&kinds(run, causes)).into_iter().filter_map(|changes| Some((cost_with(run, &changes)?, changes)));
    let (after, changes) = tried.min_by_key(|(cost, changes)| (*cost, changes.len()))?;
    let options = changes.into_iter().map(Change::option).collect();
    (after < before).then_some(Remedy { options, before, after })
}

/// The changes that may help, by kind: of one kind only one can be made.
fn kinds(run: &Run, causes: &BTreeSet<Cause>) -> Vec<Vec<Change>> {
    let session = crate::load::settings(&run.scenario);
    let is_caused = |expected: &[Cause]| expected.iter().any(|cause| causes.contains(cause));
    let mut kinds = Vec::new();
    if is_caused(&[Cause::NoBreakpoint, Cause::BeyondLookback, Cause::InFlight]) {
        kinds.push([Placement::Both, Placement::TailPrevious].map(Change::Breakpoints).to_vec());
        kinds.push(vec![Change::Launch(LaunchPolicy::Primed)]);
    }
    if is_caused(&[Cause::Expired]) && session.ttl != Ttl::OneHour {
        kinds.push(vec![Change::Lifetime(Ttl::OneHour)]);
    }
    if causes.iter().any(|cause| cause.is_change()) && !session.forks.ablations.is_empty() {
        kinds.push(vec![Change::Whole]);
    }
    kinds
}

/// All combinations with at least one change, at most one of each kind.
fn choices(kinds: &[Vec<Change>]) -> Vec<Vec<Change>> {
    let mut all: Vec<Vec<Change>> = vec![Vec::new()];
    for kind in kinds {
        let more: Vec<Vec<Change>> =
            all.iter().flat_map(|chosen| kind.iter().map(|change| [&chosen[..], &[*change]].concat())).collect();
        all.extend(more);
    }
    all.retain(|chosen| !chosen.is_empty());
    all
}

/// What the sub-agents of a run did, in any order. The main agent wakes up for their reports, several of which may arrive
/// together, so that its own requests follow from the policy.
fn work<'a>(agents: impl Iterator<Item = &'a Agent>) -> Vec<(&'a str, u32, &'a str)> {
    let children = agents.filter(|agent| agent.parent.is_some());
    let mut work: Vec<_> = children.map(|agent| (&*agent.agent_type, agent.turns, agent.state)).collect();
    work.sort_unstable();
    work
}

/// The bill of the same work under other policies; `None` if it is no longer the same work.
fn cost_with(run: &Run, changes: &[Change]) -> Option<Money> {
    let mut scenario = run.scenario.clone();
    changes.iter().for_each(|change| change.apply(&mut scenario));
    let Billed { agents, cost } = billed(&scenario, &run.options)?;
    let is_same = work(agents.iter()) == work(run.agents.iter().map(Deref::deref));
    cost.filter(|_| is_same)
}
