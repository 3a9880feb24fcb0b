//! Kinds of agents: where they are defined, which one of a name wins, what they say (contract ADEF, C09, C10, C14, G26,
//! G29).
//!
//! * [`markdown`](Text) and JSON texts are handed in by whoever reads files; nothing here does.
//! * `check` turns what stands in them into an [`AgentDefinition`], or says what is wrong with it ([`Invalid`]).
//! * `sources` ranks where definitions come from and keeps one of each name.
//! * `built_in` holds the runtime's own kinds. The fork is none of them (ADEF-23).
//! * `visibility` leaves out what is denied or lacks a server.

mod built_in;
mod check;
mod invalid;
mod json;
mod markdown;
mod sources;
mod visibility;

use std::rc::Rc;

pub use invalid::Invalid;
pub use sources::{CONTRACT, Definitions, Fate, Outcome, PUBLIC, Ranking, Source, Text};

use crate::agent::hook::Hook;
use crate::agent::permission::Mode;
use crate::outside::words;

/// A kind of agent, whatever source it came from (ADEF-01).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name, by which a model picks it (ADEF-14); of a plugin `plugin:name`.
    pub agent_type: Rc<str>,
    /// What it is for; the model sees it.
    pub when_to_use: Rc<str>,
    /// Its system prompt.
    pub prompt: Rc<str>,
    /// Tools that it may have; `None` and `*` mean all (ADEF-03, G26).
    pub tools: Option<Vec<Rc<str>>>,
    /// Tools that it may not have.
    pub disallowed_tools: Vec<Rc<str>>,
    /// Its model; `inherit` or nothing means the parent's (ADEF-04).
    pub model: Option<Rc<str>>,
    /// Effort: a level or a number (ADEF-05).
    pub effort: Option<Rc<str>>,
    /// Permission mode; nothing means `acceptEdits` (ADEF-06).
    pub permission_mode: Option<Mode>,
    /// Every spawn runs in the background (ADEF-07).
    pub background: bool,
    /// Where it works (ADEF-08).
    pub isolation: Option<Isolation>,
    /// Turns that it may take; positive (ADEF-09).
    pub max_turns: Option<u32>,
    /// Colour in a user interface (ADEF-10).
    pub color: Option<Rc<str>>,
    /// Memory that it has (ADEF-11).
    pub memory: Option<MemoryScope>,
    /// Patterns of servers that must be there.
    pub required_mcp_servers: Vec<Rc<str>>,
    /// Servers that it uses.
    pub mcp_servers: Vec<McpServer>,
    /// Hooks that act inside it alone.
    pub hooks: Vec<Hook>,
    /// Skills put into its first message.
    pub skills: Vec<Rc<str>>,
    /// Text before the content of its first user turn.
    pub initial_prompt: Option<Rc<str>>,
    /// Its results omit id and usage: nobody continues it (G29). Of built-in kinds alone.
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
    /// One of the session's, which must be there (C10).
    Reference(Rc<str>),
    /// One of its own, written out in the definition; never a condition (C10).
    Own(Rc<str>),
}

impl AgentDefinition {
    /// A definition without options.
    pub fn new(source: Source, agent_type: &str, when_to_use: &str, prompt: &str) -> Self {
        Self {
            agent_type: agent_type.into(),
            when_to_use: when_to_use.into(),
            prompt: prompt.into(),
            tools: None,
            disallowed_tools: Vec::new(),
            model: None,
            effort: None,
            permission_mode: None,
            background: false,
            isolation: None,
            max_turns: None,
            color: None,
            memory: None,
            required_mcp_servers: Vec::new(),
            mcp_servers: Vec::new(),
            hooks: Vec::new(),
            skills: Vec::new(),
            initial_prompt: None,
            one_shot: false,
            source,
        }
    }

    /// Whether every tool is meant: nothing is said of tools, or `*` is (G26, TOOLS-05).
    pub fn means_all_tools(&self) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| &**tool == "*"))
    }

    /// Its tools in words, as the list of agents shows them (PROMPT-17).
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
