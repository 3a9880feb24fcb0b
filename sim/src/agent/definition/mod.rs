//! Kinds of agents: where they are defined, which one of a name wins, what they say (contract ADEF).

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::permission::Mode;

/// A kind of agent, whatever source it came from (ADEF-01).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name, by which a model picks it; of a plugin `plugin:name`.
    pub agent_type: Rc<str>,
    /// What it is for; the model sees it.
    pub when_to_use: Rc<str>,
    /// Its system prompt.
    pub prompt: Rc<str>,
    /// Tools that it may have; `None` and `*` mean all (G26).
    pub tools: Option<Vec<Rc<str>>>,
    /// Tools that it may not have.
    pub disallowed_tools: Vec<Rc<str>>,
    /// Its model; `inherit` or nothing means the parent's.
    pub model: Option<Rc<str>>,
    /// Effort: a level or a number.
    pub effort: Option<Rc<str>>,
    /// Permission mode; nothing means `acceptEdits` (ADEF-06).
    pub permission_mode: Option<Mode>,
    /// Every spawn runs in the background (ADEF-07).
    pub background: bool,
    /// Where it works.
    pub isolation: Option<Isolation>,
    /// Turns that it may take; positive.
    pub max_turns: Option<u32>,
    /// Colour in a user interface.
    pub color: Option<Rc<str>>,
    /// Memory that it has.
    pub memory: Option<MemoryScope>,
    /// Patterns of servers that must be there.
    pub required_mcp_servers: Vec<Rc<str>>,
    /// Servers of its own.
    pub mcp_servers: Vec<Rc<str>>,
    /// Hooks that act inside it alone.
    pub hooks: Vec<crate::agent::hook::Hook>,
    /// Skills put into its prompt.
    pub skills: Vec<Rc<str>>,
    /// Text before the content of its first user turn.
    pub initial_prompt: Option<Rc<str>>,
    /// Its results omit id and usage: nobody continues it (G29).
    pub one_shot: bool,
    /// Where it was defined.
    pub source: Source,
}

/// Where definitions come from (ADEF-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In the runtime.
    BuiltIn,
    /// In a plugin.
    Plugin,
    /// In the user's home.
    User,
    /// In the project.
    Project,
    /// Managed by an organisation.
    Policy,
    /// On the command line, as JSON.
    Flag,
}

/// Which definition of a name wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// Policy, flag, project, user, plugin, built-in (`design.md` 5, public pages of 2026-09).
    #[default]
    Public,
    /// The contract's literal order: built-in, plugin, user, project, policy, flag (ADEF-16).
    Contract,
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In a worktree of its own.
    Worktree,
    /// On another machine.
    Remote,
}

/// Whose memory an agent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryScope {
    /// The user's.
    User,
    /// The project's, shared.
    Project,
    /// The project's, on this machine alone.
    Local,
}

/// The definitions that won, by name.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    by_type: BTreeMap<Rc<str>, Rc<AgentDefinition>>,
}

impl Definitions {
    /// The definition called `name`.
    pub fn get(&self, name: &str) -> Option<Rc<AgentDefinition>> {
        self.by_type.get(name).cloned()
    }

    /// All in order of their names.
    pub fn all(&self) -> impl Iterator<Item = &Rc<AgentDefinition>> {
        self.by_type.values()
    }
}
