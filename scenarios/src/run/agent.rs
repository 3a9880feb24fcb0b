//! The agents of a run, as a tree.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::{self, AskedBy, Logged};

use super::fork::{self, Fork};

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its data in the simulation.
    simulated: simulation::Agent,
    /// Its number within its type, counted from one.
    pub number: u32,
    /// Its display name: the type, with the number if there are several.
    pub label: String,
    /// A name that a call gave it.
    pub name: Option<Rc<str>>,
    /// Calls between the main agent and it.
    pub depth: u32,
    /// Fork data, if it is a fork.
    pub fork: Option<Fork>,
}

impl Deref for Agent {
    type Target = simulation::Agent;

    fn deref(&self) -> &Self::Target {
        &self.simulated
    }
}

impl Agent {
    /// The machine-readable kind: `main`, `internal`, `command`, `fork`, or `named` for an agent of a definition.
    pub fn kind(&self) -> &'static str {
        match (&self.parent, self.asked_by, &self.fork) {
            (None, ..) => "main",
            (_, AskedBy::Runtime, _) => "internal",
            (_, AskedBy::Command, _) => "command",
            (Some(_), AskedBy::Model, Some(_)) => "fork",
            (Some(_), AskedBy::Model, None) => "named",
        }
    }

    /// Its kind; for a named agent the requested type.
    pub fn kind_name(&self) -> &str {
        match self.kind() {
            "named" => &self.agent_type,
            kind => kind,
        }
    }

    /// Whether `name` means this agent: its id, its type, `type#2`, or a given name.
    pub fn is_called(&self, name: &str) -> bool {
        let numbered = name.split_once('#').is_some_and(|(agent_type, number)| {
            agent_type.eq_ignore_ascii_case(&self.agent_type) && number.parse() == Ok(self.number)
        });
        numbered
            || *self.id == *name
            || self.agent_type.eq_ignore_ascii_case(name)
            || self.name.as_deref() == Some(name)
    }
}

/// The agents, parents before their children, and children in starting order.
pub fn tree(took_part: &[simulation::Agent], events: &[Logged]) -> Vec<Agent> {
    let agents = labelled(took_part, &names(events), &fork::forks(events));
    let mut children: BTreeMap<Option<&str>, Vec<&Agent>> = BTreeMap::new();
    for agent in &agents {
        children.entry(agent.parent.as_deref()).or_default().push(agent);
    }
    let mut tree = Vec::with_capacity(agents.len());
    // The next agent is last. An explicit stack, because agents may be nested deeper than the call stack allows.
    let main = children.remove(&None).unwrap_or_default();
    let mut open: Vec<(u32, &Agent)> = main.into_iter().rev().map(|agent| (0, agent)).collect();
    while let Some((depth, agent)) = open.pop() {
        tree.push(Agent { depth, ..agent.clone() });
        let called = children.remove(&Some(&*agent.id)).unwrap_or_default();
        open.extend(called.into_iter().rev().map(|child| (depth + 1, child)));
    }
    tree
}

/// The latest name of each agent.
fn names(events: &[Logged]) -> BTreeMap<Rc<str>, Rc<str>> {
    let named = events.iter().filter_map(|logged| match &logged.event {
        Event::Named { agent, name, .. } => Some((agent.clone(), name.clone())),
        _ => None,
    });
    named.collect()
}

fn labelled(
    took_part: &[simulation::Agent],
    names: &BTreeMap<Rc<str>, Rc<str>>,
    forks: &BTreeMap<Rc<str>, Fork>,
) -> Vec<Agent> {
    let mut of_type: BTreeMap<&str, u32> = BTreeMap::new();
    let numbers: Vec<u32> = took_part
        .iter()
        .map(|agent| {
            let number = of_type.entry(&agent.agent_type).or_default();
            *number += 1;
            *number
        })
        .collect();
    let several = |agent_type: &str| of_type.get(agent_type).is_some_and(|count| *count > 1);
    let agent = |(agent, number): (&simulation::Agent, u32)| Agent {
        simulated: agent.clone(),
        number,
        label: if several(&agent.agent_type) {
            format!("{}#{number}", agent.agent_type)
        } else {
            agent.agent_type.to_string()
        },
        name: names.get(&agent.id).cloned(),
        depth: 0,
        fork: forks.get(&agent.id).cloned(),
    };
    took_part.iter().zip(numbers).map(agent).collect()
}
