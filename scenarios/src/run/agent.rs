//! Who took part in a run, as its events tell.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::Logged;
use forkcast_sim::time::Instant;

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its id; `main` for the main agent.
    pub id: Rc<str>,
    /// Its type.
    pub agent_type: Rc<str>,
    /// What people call it: its type, with a number where there are several.
    pub label: String,
    /// A name that it was given.
    pub name: Option<Rc<str>>,
    /// The agent that called it.
    pub parent: Option<Rc<str>>,
    /// Calls between the main agent and it.
    pub depth: u32,
    /// Nobody waited for it, from the beginning or from a takeover on.
    pub is_async: bool,
    /// Requests that were answered.
    pub turns: u32,
    /// How its task ended; of the main agent how its last query did.
    pub state: Rc<str>,
    /// Why its last query ended.
    pub reason: Option<&'static str>,
    /// When it began.
    pub began: Instant,
    /// When its task, or its last query, ended.
    pub ended: Option<Instant>,
    /// Which of its type it is, counted from one.
    pub number: u32,
}

/// The id and the type of the agent that is there from the beginning.
pub const MAIN: &str = "main";

impl Agent {
    fn new(id: &Rc<str>, agent_type: &Rc<str>, number: u32, began: Instant) -> Self {
        Self {
            id: id.clone(),
            agent_type: agent_type.clone(),
            label: agent_type.to_string(),
            name: None,
            parent: None,
            depth: 0,
            is_async: false,
            turns: 0,
            state: "running".into(),
            reason: None,
            began,
            ended: None,
            number,
        }
    }

    /// Whether `name` means it: its id, its type, `type#2`, or a name that it was given.
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

/// The agents of a run, parents before their children and children in order of their calls.
pub fn agents(events: &[Logged]) -> Vec<Agent> {
    let mut found = Found::default();
    found.begin(&MAIN.into(), &MAIN.into(), Instant::default());
    events.iter().for_each(|logged| found.take(logged));
    found.tree()
}

#[derive(Default)]
struct Found {
    agents: BTreeMap<Rc<str>, Agent>,
    of_type: BTreeMap<Rc<str>, u32>,
    order: Vec<Rc<str>>,
}

impl Found {
    fn begin(&mut self, id: &Rc<str>, agent_type: &Rc<str>, at: Instant) -> &mut Agent {
        if !self.agents.contains_key(id) {
            let number = self.of_type.entry(agent_type.clone()).or_default();
            *number += 1;
            self.order.push(id.clone());
            self.agents.insert(id.clone(), Agent::new(id, agent_type, *number, at));
        }
        self.agents.entry(id.clone()).or_insert_with(|| Agent::new(id, agent_type, 1, at))
    }

    fn take(&mut self, logged: &Logged) {
        let at = logged.at;
        match &logged.event {
            Event::AgentStarted { agent, parent, agent_type, is_async } => {
                let agent = self.begin(agent, agent_type, at);
                agent.parent = Some(parent.clone());
                agent.is_async |= is_async;
            }
            Event::Takeover { agent, .. } => self.change(agent, |agent| agent.is_async = true),
            Event::Named { agent, name, .. } => self.change(agent, |agent| agent.name = Some(name.clone())),
            Event::Usage { agent, .. } => self.change(agent, |agent| agent.turns += 1),
            Event::TaskState { task, state, .. } => self.change(task, |agent| {
                agent.state = (*state).into();
                agent.ended = (*state != "running").then_some(at);
            }),
            Event::QueryEnded { agent, reason, .. } => self.change(agent, |agent| {
                agent.reason = Some(reason);
                if &*agent.id == MAIN {
                    (agent.state, agent.ended) = ((*reason).into(), Some(at));
                }
            }),
            _ => {}
        }
    }

    fn change(&mut self, id: &Rc<str>, change: impl FnOnce(&mut Agent)) {
        if let Some(agent) = self.agents.get_mut(id) {
            change(agent);
        }
    }

    fn tree(mut self) -> Vec<Agent> {
        for agent in self.agents.values_mut() {
            if self.of_type.get(&agent.agent_type).is_some_and(|count| *count > 1) {
                agent.label = format!("{}#{}", agent.agent_type, agent.number);
            }
        }
        let mut tree = Vec::new();
        self.add(&MAIN.into(), 0, &mut tree);
        // Whose parent nobody knows stands at the end.
        for id in &self.order {
            if !tree.iter().any(|agent: &Agent| agent.id == *id) {
                tree.extend(self.agents.get(id).cloned());
            }
        }
        tree
    }

    fn add(&self, id: &Rc<str>, depth: u32, tree: &mut Vec<Agent>) {
        let Some(agent) = self.agents.get(id) else { return };
        tree.push(Agent { depth, ..agent.clone() });
        for child in &self.order {
            let parent = self.agents.get(child).and_then(|agent| agent.parent.as_ref());
            if parent == Some(id) && !tree.iter().any(|agent| agent.id == *child) {
                self.add(child, depth + 1, tree);
            }
        }
    }
}
