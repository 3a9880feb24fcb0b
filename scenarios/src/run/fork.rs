//! The forks of a run: how each was built, and the outcome of its report.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::Logged;

/// Fork data of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The call that requested it.
    pub tool_use: Rc<str>,
    /// How its messages were built: `documents` or `client-2026`.
    pub profile: &'static str,
    /// Its position among the forks of one message, counted from zero.
    pub place: u32,
    /// Principles that were deliberately broken.
    pub ablations: Vec<&'static str>,
    /// The outcome of its report; `None` if it made none.
    pub report: Option<Reported>,
}

/// The outcome of a fork's report (contract FORK-41, FORK-42).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The problem; `None` if the report is well-formed.
    pub problem: Option<Rc<str>>,
}

/// The forks of a run by the ids of their agents.
pub fn forks(events: &[Logged]) -> BTreeMap<Rc<str>, Fork> {
    let mut forks = BTreeMap::new();
    for logged in events {
        match &logged.event {
            Event::ForkBuilt { agent, tool_use, profile, place, ablations, .. } => {
                let (tool_use, ablations) = (tool_use.clone(), ablations.clone());
                let fork = Fork { tool_use, profile, place: *place, ablations, report: None };
                forks.insert(agent.clone(), fork);
            }
            Event::ForkReport { agent, problem, .. } => {
                if let Some(fork) = forks.get_mut(agent) {
                    fork.report = Some(Reported { problem: problem.clone() });
                }
            }
            _ => {}
        }
    }
    forks
}
