//! Hooks: scripted things that look on and may interfere at given moments (contract STOP-03, STOP-09, CTX-09, CTX-10).

use std::rc::Rc;

use super::context::Context;

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Its name.
    pub name: Rc<str>,
    /// When it runs.
    pub moment: Moment,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// A user's prompt was submitted.
    UserPromptSubmit,
    /// A sub-agent is about to begin (CTX-09).
    SubagentStart,
    /// A tool is about to run.
    PreToolUse,
    /// A tool has run.
    PostToolUse,
    /// A turn is about to end (STOP-08).
    Stop,
}

/// What the stop hooks of an agent say (STOP-03, STOP-04).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopVerdict {
    /// Nothing may follow.
    pub prevent_continuation: bool,
    /// What the model must mend.
    pub blocking_errors: Vec<Rc<str>>,
}

/// The hooks of a session.
#[derive(Debug, Default)]
pub struct Hooks {}

impl Hooks {
    /// Runs the stop hooks that act in `context`.
    pub async fn stop(&self, _context: &Rc<Context>) -> StopVerdict {
        StopVerdict::default()
    }

    /// Runs the hooks that act before a sub-agent begins; gives what they add to its first message.
    pub async fn subagent_start(&self, _context: &Rc<Context>) -> Vec<Rc<str>> {
        Vec::new()
    }
}
