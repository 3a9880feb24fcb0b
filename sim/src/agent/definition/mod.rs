//! Agent types: where they are defined, which definition of a name wins, and what they contain (contract ADEF, C09,
//! C10, C14, G26, G29).
//!
//! * [`markdown`](Text) and JSON texts are passed in by the caller; nothing here reads files.
//! * `check` turns a text into an [`AgentDefinition`] or reports why it is [`Invalid`].
//! * `sources` ranks the sources of definitions and keeps one definition per name.
//! * `built_in` holds the built-in types. The fork is not among them (ADEF-23).
//! * [`Skill`]: instructions by name, in the same form.
//! * `visibility` hides agents that are denied or whose servers are missing.

mod built_in;
mod check;
mod invalid;
mod json;
mod markdown;
mod skill;
mod sources;
mod visibility;

use std::rc::Rc;

pub use invalid::Invalid;
pub use skill::Skill;
pub use sources::{CONTRACT, Definitions, Fate, Outcome, PUBLIC, Ranking, Source, Text, meant_type};
pub use visibility::fits;

use crate::agent::hook::Hook;
use crate::agent::permission::Mode;
use crate::outside::words;

/// An agent type from any source (ADEF-01).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    /// The name by which a model selects it (ADEF-14); `plugin:name` for a plugin.
    pub agent_type: Rc<str>,
    /// When to use it; shown to the model.
    pub when_to_use: Rc<str>,
    /// Its system prompt.
    pub prompt: Rc<str>,
    /// Allowed tools; `None` and `*` mean all (ADEF-03, G26).
    pub tools: Option<Vec<Rc<str>>>,
    /// Disallowed tools.
    pub disallowed_tools: Vec<Rc<str>>,
    /// Its model; `inherit` or `None` means the parent's (ADEF-04).
    pub model: Option<Rc<str>>,
    /// Effort: a level or a number (ADEF-05).
    pub effort: Option<Rc<str>>,
    /// Permission mode; `None` means `acceptEdits` (ADEF-06).
    pub permission_mode: Option<Mode>,
    /// Every spawn runs in the background (ADEF-07).
    pub background: bool,
    /// Where it works (ADEF-08).
    pub isolation: Option<Isolation>,
    /// Maximum number of turns; positive (ADEF-09).
    pub max_turns: Option<u32>,
    /// Colour in a user interface (ADEF-10).
    pub color: Option<Rc<str>>,
    /// Whose memory it has (ADEF-11).
    pub memory: Option<MemoryScope>,
    /// Name patterns of required servers.
    pub required_mcp_servers: Vec<Rc<str>>,
    /// Servers that it uses.
    pub mcp_servers: Vec<McpServer>,
    /// Hooks that act only inside it.
    pub hooks: Vec<Hook>,
    /// Skills put into its first message.
    pub skills: Vec<Rc<str>>,
    /// Text before the content of its first user turn.
    pub initial_prompt: Option<Rc<str>>,
    /// Its results omit id and usage, because it is never continued (G29). Only for built-in types.
    pub one_shot: bool,
    /// Where it was defined.
    pub source: Source,
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In a worktree of its own.
    Worktree,
    /// On another machine.
    Remote,
}

words! {
    /// Whose memory an agent has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MemoryScope {
        /// The user's.
        User = "user",
        /// The project's, shared.
        Project = "project",
        /// The project's, on this machine alone.
        Local = "local",
    }
}

/// A server that a definition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServer {
    /// One of the session's servers, which must exist (C10).
    Reference(Rc<str>),
    /// A server written out in the definition; never a condition (C10).
    Own(Rc<str>),
}

impl AgentDefinition {
    /// A definition without options.
    pub fn new(source: Source, agent_type: &str, when_to_use: &str, prompt: &str) -> Self {
        Self {
            agent_type: agent_type.into(),
            when_to_use: when_to_use.into(),
            prompt: prompt.into(),
            source,
            ..Self::default()
        }
    }

    /// Whether all tools are allowed: tools are not listed, or `*` is (G26, TOOLS-05).
    pub fn means_all_tools(&self) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| &**tool == "*"))
    }

    /// Its tools as text for the list of agents (PROMPT-17).
    pub fn tools_in_words(&self) -> String {
        let without = self.disallowed_tools.join(", ");
        match &self.tools {
            Some(tools) if !self.means_all_tools() => {
                let kept: Vec<&str> = tools.iter().map(|tool| &**tool).filter(|tool| !self.disallows(tool)).collect();
                if kept.is_empty() { "None".to_owned() } else { kept.join(", ") }
            }
            _ if without.is_empty() => "*".to_owned(),
            _ => format!("All tools except {without}"),
        }
    }

    fn disallows(&self, tool: &str) -> bool {
        self.disallowed_tools.iter().any(|other| &**other == tool)
    }
}
