//! What was asked: an observer that keeps the draft of every request, for claims about bytes and for `bodies/`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::{Observer, Seen};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Draft;

/// A request as it was sent.
#[derive(Clone)]
pub struct Asked {
    /// Who asked.
    pub agent: Rc<str>,
    /// Answered requests of this agent before.
    pub turn: u32,
    /// How often this very request was sent before.
    pub attempt: u32,
    /// What was sent.
    pub draft: Draft,
    /// Breakpoints in it.
    pub breakpoints: u64,
}

/// Keeps every request.
#[derive(Clone, Default)]
pub struct Keeper {
    asked: Rc<RefCell<Vec<Asked>>>,
    seen: Rc<RefCell<Known>>,
}

/// What the events told so far.
#[derive(Default)]
struct Known {
    /// Turn and attempt of each agent's last request.
    sent: BTreeMap<Rc<str>, (u32, u32)>,
    /// Type of each agent.
    types: BTreeMap<Rc<str>, Rc<str>>,
    /// Permission requests and their tools.
    requests: Vec<(u64, Rc<str>)>,
}

impl Keeper {
    /// Hands over what was kept, in the order of the ledger.
    pub fn take(&self) -> Vec<Asked> {
        self.asked.take()
    }

    /// Whether the agent `id` is of a type.
    pub fn is_type(&self, id: &str, agent_type: &str) -> bool {
        self.seen.borrow().types.get(id).is_some_and(|found| found.eq_ignore_ascii_case(agent_type))
    }

    /// The newest permission request, of this tool where one is named.
    pub fn last_request(&self, tool: Option<&str>) -> Option<u64> {
        let seen = self.seen.borrow();
        let fitting = seen.requests.iter().rev().find(|(_, found)| tool.is_none_or(|tool| **found == *tool));
        fitting.map(|(request, _)| *request)
    }
}

impl Observer for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        let mut seen = self.seen.borrow_mut();
        match event {
            Event::RequestSent { agent, turn, attempt, .. } => drop(seen.sent.insert(agent.clone(), (*turn, *attempt))),
            Event::AgentStarted { agent, agent_type, .. } => drop(seen.types.insert(agent.clone(), agent_type.clone())),
            Event::PermissionRequest { request, tool, .. } => seen.requests.push((*request, tool.clone())),
            _ => {}
        }
        Ok(())
    }

    fn served(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let (turn, attempt) = self.seen.borrow().sent.get(seen.agent).copied().unwrap_or_default();
        let (agent, draft) = (seen.agent.into(), seen.draft.clone());
        let breakpoints = seen.request.markers.len() as u64;
        self.asked.borrow_mut().push(Asked { agent, turn, attempt, draft, breakpoints });
        Ok(())
    }
}
