//! What a session keeps for an agent while it runs, and must not keep longer (contract CTX-16, SYNC-22).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a session keeps for agents, by their ids.
#[derive(Debug, Default)]
pub struct Scoped {
    skills: RefCell<BTreeMap<Rc<str>, Vec<Rc<str>>>>,
    dumps: RefCell<BTreeMap<Rc<str>, Dump>>,
}

/// What is kept for a dump of an agent's prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// Renderings so far.
    pub renderings: u32,
    /// Bytes of the last one.
    pub bytes: usize,
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

    /// A prompt of so many bytes was rendered for `agent`.
    pub fn note_rendering(&self, agent: &Rc<str>, bytes: usize) {
        let mut dumps = self.dumps.borrow_mut();
        let dump = dumps.entry(agent.clone()).or_default();
        *dump = Dump { renderings: dump.renderings + 1, bytes };
    }

    /// What is kept of the prompts of `agent`.
    pub fn dump_of(&self, agent: &str) -> Option<Dump> {
        self.dumps.borrow().get(agent).copied()
    }

    /// Forgets the skills of `agent` (`clearInvokedSkillsForAgent`).
    pub fn clear_invoked_skills(&self, agent: &str) {
        self.skills.borrow_mut().remove(agent);
    }

    /// Forgets the prompts of `agent` (`clearDumpState`).
    pub fn clear_dump_state(&self, agent: &str) {
        self.dumps.borrow_mut().remove(agent);
    }

    /// Sub-agents that something is kept for.
    pub fn left(&self) -> Vec<Rc<str>> {
        let (skills, dumps) = (self.skills.borrow(), self.dumps.borrow());
        let mut left: Vec<Rc<str>> =
            skills.keys().chain(dumps.keys()).filter(|agent| &***agent != "main").cloned().collect();
        left.sort();
        left.dedup();
        left
    }
}
