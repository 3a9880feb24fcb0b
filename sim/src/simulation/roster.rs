//! The agents of a run, derived from its events.

use std::rc::Rc;

use crate::agent::Event;
use crate::agent::event::Tokens;
use crate::outside::words;
use crate::time::Instant;
use crate::wire::{Index, Usage};

/// An agent of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its id; `main` for the main agent.
    pub id: Rc<str>,
    /// Its type: `main`, or the name of its definition.
    pub agent_type: Rc<str>,
    /// The agent that launched it; `None` for the main agent.
    pub parent: Option<Rc<str>>,
    /// When it began.
    pub began: Instant,
    /// When its task, or the main agent's last loop, ended.
    pub ended: Option<Instant>,
    /// Who asked for it.
    pub asked_by: AskedBy,
    /// No agent waits for it, or none did any more in the end.
    pub background: bool,
    /// The state of its task: `running`, `completed`, `failed`, `killed`; for the main agent as its last loop ended.
    pub state: &'static str,
    /// Why its last loop ended, in the words of the contract's STOP group.
    pub reason: Option<&'static str>,
    /// Completed answers.
    pub turns: u32,
    /// The usage of its answers.
    pub reported: Usage,
}

words! {
    /// Who asked for an agent (contract AGENT-31).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AskedBy {
        /// A model, with a call; the user for the main agent.
        #[default]
        Model = "model",
        /// The runtime, for one of its helpers: an internal fork.
        Runtime = "runtime",
        /// A command: a skill that runs as an agent of its own.
        Command = "command",
    }
}

/// The agents of a run in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Roster {
    agents: Vec<Agent>,
    places: Index<Rc<str>, usize>,
    /// Agents of commands that have not started to run.
    commands: Index<Rc<str>, ()>,
}

impl Roster {
    /// All of them.
    pub fn into_agents(self) -> Vec<Agent> {
        self.agents
    }

    /// The type of agent `id`.
    pub fn type_of(&self, id: &str) -> Option<&Rc<str>> {
        self.places.get(id).map(|at| &self.agents[*at].agent_type)
    }

    /// Applies an event of an agent.
    pub fn take(&mut self, at: Instant, event: &Event) {
        match event {
            Event::AgentStarted { agent, parent, agent_type, is_async } => {
                let is_command = self.commands.remove(agent).is_some();
                let begun = self.begin(at, agent, agent_type, Some(parent), *is_async);
                if is_command {
                    begun.asked_by = AskedBy::Command;
                }
            }
            Event::InternalStarted { agent, parent, caller } => {
                self.begin(at, agent, &(*caller).into(), Some(parent), true).asked_by = AskedBy::Runtime;
            }
            Event::SlashStarted { agent, .. } => _ = self.commands.insert(agent.clone(), ()),
            Event::InternalEnded { agent, reason, .. } | Event::SlashEnded { agent, reason, .. } => {
                if let Some(agent) = self.get(agent) {
                    agent.ended = Some(at);
                    agent.state = match *reason {
                        "aborted" => "killed",
                        "model_error" => "failed",
                        _ => "completed",
                    };
                }
            }
            Event::QueryStarted { agent, .. } if &**agent == "main" => {
                let main = self.begin(at, agent, &"main".into(), None, false);
                (main.state, main.ended) = ("running", None);
            }
            Event::QueryEnded { agent, reason, .. } => {
                if let Some(agent) = self.get(agent) {
                    agent.reason = Some(reason);
                    if agent.parent.is_none() {
                        (agent.state, agent.ended) = ("completed", Some(at));
                    }
                }
            }
            Event::TaskState { task, state, background, .. } => {
                if let Some(agent) = self.get(task) {
                    (agent.state, agent.background) = (state, *background);
                    agent.ended = (*state != "running").then_some(at);
                }
            }
            Event::Usage { agent, usage, .. } => {
                if let Some(agent) = self.get(agent) {
                    agent.turns += 1;
                    agent.reported += spelled_out(*usage);
                }
            }
            _ => {}
        }
    }

    fn get(&mut self, id: &str) -> Option<&mut Agent> {
        self.places.get(id).map(|at| &mut self.agents[*at])
    }

    /// The agent `id`, created if there is none: a takeover starts it again under its old id.
    fn begin(
        &mut self,
        at: Instant,
        id: &Rc<str>,
        agent_type: &Rc<str>,
        parent: Option<&Rc<str>>,
        background: bool,
    ) -> &mut Agent {
        let next = self.agents.len();
        let place = *self.places.get_or_insert_with(id.clone(), || next);
        if place == next {
            self.agents.push(Agent {
                id: id.clone(),
                agent_type: agent_type.clone(),
                parent: parent.cloned(),
                began: at,
                ended: None,
                asked_by: AskedBy::default(),
                background,
                state: "running",
                reason: None,
                turns: 0,
                reported: Usage::default(),
            });
        }
        &mut self.agents[place]
    }
}

fn spelled_out(tokens: Tokens) -> Usage {
    Usage {
        input_tokens: tokens.input,
        cache_read_input_tokens: tokens.read,
        ephemeral_5m_input_tokens: tokens.write_5m,
        ephemeral_1h_input_tokens: tokens.write_1h,
        output_tokens: tokens.output,
    }
}
