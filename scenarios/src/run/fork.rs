//! What a run tells of its forks: how each was made, and what came of its report.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::Logged;

/// What makes an agent a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The call that asked for it.
    pub tool_use: Rc<str>,
    /// How its messages were made: `documents` or `client-2026`.
    pub profile: &'static str,
    /// Its place among the forks of one message, counted from zero.
    pub place: u32,
    /// Principles that were broken on purpose.
    pub ablations: Vec<&'static str>,
    /// What came of its report; `None` where it made none.
    pub report: Option<Reported>,
}

/// How a fork's report was (contract FORK-41, FORK-42).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// What is wrong with it; `None` where it is well-formed.
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
