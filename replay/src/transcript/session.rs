//! A session: one main agent and everything that it started.

use std::sync::Arc;

use super::{SpawnMode, Thread};
use crate::formats::Format;

/// All threads of one session, joined.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its id as the files have it.
    pub id: Arc<str>,
    /// The file that holds its main agent, else its first file.
    pub source: String,
    /// The path named on the command line that it was found under: index among the scopes.
    pub scope: usize,
    /// How it was read, and so the program that wrote it: the habits of each are a profile of their own.
    pub format: Format,
    /// See [`Thread::user`].
    pub user: Option<Arc<str>>,
    /// See [`Thread::project`].
    pub project: Option<Arc<str>>,
    /// The main agent first where it is known, then the others in order of their first requests.
    pub agents: Vec<Agent>,
}

impl Session {
    /// Its blocks were counted while they were read: somebody asked, and the reader of its format counts.
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
    /// The agent that started it: index among the session's agents. `None` for the main agent and where nothing tells.
    pub parent: Option<usize>,
    /// What it is.
    pub kind: AgentKind,
    /// The file of its thread.
    pub file: Arc<str>,
    /// Its conversation.
    pub thread: Thread,
}

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Talks to the user.
    Main,
    /// Started by a tool.
    Named {
        /// What kind was asked for, where the spawn is recorded.
        name: Option<Arc<str>>,
        /// How it ran, where the result tells.
        mode: Option<SpawnMode>,
    },
    /// Inherits its parent's conversation.
    Fork,
    /// Started by the client for its own ends: compaction, titles, suggestions.
    Internal,
}

impl AgentKind {
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
