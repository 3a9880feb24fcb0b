//! State that a session keeps for an agent only while it runs (contract CTX-16, SYNC-22).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// State of agents, by id.
#[derive(Debug, Default)]
pub struct Scoped {
    skills: RefCell<BTreeMap<Rc<str>, Vec<Rc<str>>>>,
    /// Agents whose prompts were rendered.
    dumps: RefCell<BTreeSet<Rc<str>>>,
}

impl Scoped {
    /// `agent` was given `skill`.
    pub fn note_skill(&self, agent: &Rc<str>, skill: &Rc<str>) {
        self.skills.borrow_mut().entry(agent.clone()).or_default().push(skill.clone());
    }

    /// The skills that `agent` was given.
    pub fn skills_of(&self, agent: &str) -> Vec<Rc<str>> {
        self.skills.borrow().get(agent).cloned().unwrap_or_default()
    }

    /// A prompt was rendered for `agent`.
    pub fn note_rendering(&self, agent: &Rc<str>) {
        self.dumps.borrow_mut().insert(agent.clone());
    }

    /// Forgets the skills of `agent` (`clearInvokedSkillsForAgent`).
    pub fn clear_invoked_skills(&self, agent: &str) {
        self.skills.borrow_mut().remove(agent);
    }

    /// Forgets the prompts of `agent` (`clearDumpState`).
    pub fn clear_dump_state(&self, agent: &str) {
        self.dumps.borrow_mut().remove(agent);
    }

    /// Sub-agents that still have state here.
    pub fn left(&self) -> Vec<Rc<str>> {
        let skills = self.skills.borrow();
        let dumps = self.dumps.borrow();
        let mut left: Vec<Rc<str>> =
            skills.keys().chain(&*dumps).filter(|agent| &***agent != "main").cloned().collect();
        left.sort();
        left.dedup();
        left
    }
}
