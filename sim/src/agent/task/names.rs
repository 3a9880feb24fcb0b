//! Names of agents (contract AGENT-26, G28), kept for the duration of the run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::event::Event;
use crate::agent::ground::Ground;

/// Agents by name.
pub struct Names {
    ground: Rc<Ground>,
    agents: RefCell<BTreeMap<Rc<str>, Rc<str>>>,
}

impl Names {
    pub(super) fn new(ground: Rc<Ground>) -> Self {
        Self { ground, agents: RefCell::default() }
    }

    /// Registers `name` for `agent`. If two agents share a name, the latest one gets it, and the log says which one it
    /// replaced (G28).
    pub fn register(&self, name: &Rc<str>, agent: &Rc<str>) {
        let replaced = self.agents.borrow_mut().insert(name.clone(), agent.clone());
        self.ground.emit(&Event::Named { agent: agent.clone(), name: name.clone(), replaced });
    }

    /// Removes the names of `agent` (contract MSG-13).
    pub(super) fn forget(&self, agent: &str) {
        self.agents.borrow_mut().retain(|_, named| **named != *agent);
    }

    /// The agent called `name`.
    pub fn get(&self, name: &str) -> Option<Rc<str>> {
        self.agents.borrow().get(name).cloned()
    }
}
