//! An agent's memory: a directory of notes with an index that is part of the system prompt (contract ADEF-11, CTX-12).
//!
//! Directories are those of the public page on sub-agents (2026-09).

use std::rc::Rc;

use super::Context;
use crate::agent::definition::{AgentDefinition, MemoryScope};
use crate::agent::session::Session;

/// The index file, which every run of the agent is shown.
const INDEX: &str = "MEMORY.md";

/// The memory of an agent when the agent started.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Whose it is.
    pub scope: MemoryScope,
    /// Its directory; the agent reads and writes there.
    pub directory: Rc<str>,
    /// The content of its index, if there was one.
    pub index: Option<Rc<str>>,
}

impl Memory {
    /// The memory requested by `definition`.
    pub(super) fn of(session: &Session, definition: &AgentDefinition) -> Option<Self> {
        let scope = definition.memory?;
        let home = &session.settings.home;
        let cwd = &session.settings.cwd;
        let (above, folder) = match scope {
            MemoryScope::User => (home, "agent-memory"),
            MemoryScope::Project => (cwd, "agent-memory"),
            MemoryScope::Local => (cwd, "agent-memory-local"),
        };
        let name = definition.agent_type.replace(':', "-");
        let directory: Rc<str> = format!("{above}/.claude/{folder}/{name}").into();
        let index = session.world.files.read(&format!("{directory}/{INDEX}"));
        Some(Self { scope, directory, index })
    }
}

impl Context {
    /// The text about memory in the system prompt.
    pub(in crate::agent) fn memory_text(&self) -> Option<String> {
        let Memory { scope, directory, index } = self.memory.as_deref()?;
        let shared = match scope {
            MemoryScope::User => "holds in every project",
            MemoryScope::Project => "belongs to this project and is shared by its people",
            MemoryScope::Local => "belongs to this project on this machine alone",
        };
        let said = match index {
            Some(index) => format!("{INDEX} says:\n\n{}", index.trim_end()),
            None => format!("It has no {INDEX} yet."),
        };
        Some(format!(
            "# Memory\nYour memory lies in {directory} and {shared}. Read and write files there: keep what will help in later \
             tasks, and list it in {INDEX}. {said}"
        ))
    }
}
