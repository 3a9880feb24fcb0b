//! How worktrees of agents are made (contract WORKTREE).

use std::rc::Rc;

use crate::agent::world::git::Remote;
use crate::time::Duration;

/// Options for worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktrees {
    /// Prompts offer `isolation`; calls that ask for it are accepted in any case (contract AGENT-11).
    pub are_offered: bool,
    /// Folders that are linked from the repository instead of copied (WORKTREE-09). Git ignores them.
    pub linked: Vec<Rc<str>>,
    /// A hook of the user makes worktrees, so it is unknown whether they were changed (WORKTREE-20).
    pub by_hook: bool,
    /// What a fetch before a new worktree meets.
    pub remote: Remote,
    /// How long git takes to make a worktree, and to look at it and remove it.
    pub takes: Duration,
}

impl Default for Worktrees {
    fn default() -> Self {
        Self {
            are_offered: false,
            linked: vec!["node_modules".into()],
            by_hook: false,
            remote: Remote::Open,
            takes: Duration::default(),
        }
    }
}
