//! A session: one main agent and everything that it started.

use std::sync::Arc;

use super::{SpawnMode, Thread};
use crate::formats::Format;

/// All threads of one session, joined.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its id in the files.
    pub id: Arc<str>,
    /// The file with its main agent, else its first file.
    pub source: String,
    /// The path on the command line that it was found under: index among the scopes.
    pub scope: usize,
    /// Its format, which shows the client: each has a profile of habits.
    pub format: Format,
    /// See [`Thread::user`].
    pub user: Option<Arc<str>>,
    /// See [`Thread::project`].
    pub project: Option<Arc<str>>,
    /// The main agent first if known, then the others in order of their first requests.
    pub agents: Vec<Agent>,
}

impl Session {
    /// Its blocks were counted while they were read: sizes are counted, and the reader of its format supports it.
    pub fn is_counted(&self) -> bool {
        let mut items = self.agents.iter().flat_map(|agent| &agent.thread.items);
        items.any(|item| item.parts().iter().any(|part| part.tokens > 0))
    }
}

/// One agent of a session.
#[derive(Clone, Debug)]
pub struct Agent {
    /// `main`, or the id of the sub-agent.
    pub id: Arc<str>,
    /// The agent that started it: index among the session's agents. `None` for the main agent and if unknown.
    pub parent: Option<usize>,
    /// Its kind.
    pub kind: AgentKind,
    /// The file of its thread.
    pub file: Arc<str>,
    /// Its conversation.
    pub thread: Thread,
}

/// The kind of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentKind {
    /// Talks to the user.
    #[default]
    Main,
    /// Started by a tool.
    Named {
        /// The requested kind, if the spawn is recorded.
        name: Option<Arc<str>>,
        /// How it ran, if the result is recorded.
        mode: Option<SpawnMode>,
    },
    /// Inherits its parent's conversation.
    Fork,
    /// Started by the client for its own purposes: compaction, titles, suggestions.
    Internal,
}

impl AgentKind {
    /// All machine words.
    pub const WORDS: [&'static str; 4] = ["main", "named", "fork", "internal"];

    /// A sub-agent of unknown type.
    pub const SUB_AGENT: Self = Self::Named { name: None, mode: None };

    /// The kind with a recorded name: a machine word, else a requested type.
    pub fn recorded(name: &str) -> Self {
        match name {
            "main" => Self::Main,
            "named" => Self::SUB_AGENT,
            "fork" => Self::Fork,
            "internal" => Self::Internal,
            requested => Self::Named { name: Some(requested.into()), mode: None },
        }
    }

    /// The requested type of a named agent, if it is recorded.
    pub fn requested(&self) -> Option<&str> {
        match self {
            Self::Named { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// The requested type, else the machine word.
    pub fn name(&self) -> &str {
        self.requested().unwrap_or_else(|| self.word())
    }

    /// How a named agent ran, if it is recorded.
    pub const fn mode(&self) -> Option<SpawnMode> {
        match self {
            Self::Named { mode, .. } => *mode,
            _ => None,
        }
    }

    /// The machine word: `main`, `named`, `fork` or `internal`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Named { .. } => "named",
            Self::Fork => "fork",
            Self::Internal => "internal",
        }
    }
}
