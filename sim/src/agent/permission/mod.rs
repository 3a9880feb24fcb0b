//! Whether an agent may: three layers (contract PERM-01): may this agent start, which tools it has, how its requests
//! at run time are handled.

use std::cell::Cell;
use std::rc::Rc;

use super::context::Context;
use super::entry::ToolUse;
use super::tool::Tool;

/// How permission requests of an agent are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Ask, or allow by rule.
    #[default]
    Default,
    /// Edits and safe reads go through; the rest is as in `default` (PERM-09).
    AcceptEdits,
    /// Nothing is changed.
    Plan,
    /// Everything goes through; only where the user switched it on (PERM-11).
    BypassPermissions,
    /// Requests go up to the parent's terminal (PERM-12).
    Bubble,
}

impl Mode {
    /// The word in definitions and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::Bubble => "bubble",
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allowed,
    /// It may not; the model sees these words.
    Denied(Rc<str>),
}

/// Rules, modes and open requests of a session.
#[derive(Debug, Default)]
pub struct Permissions {
    /// The main agent's mode.
    pub mode: Cell<Mode>,
    /// The user allowed `bypassPermissions` (PERM-11).
    pub bypass_allowed: bool,
}

impl Permissions {
    /// Whether `context` may make this call (`canUseTool`, PERM-15); may wait for somebody's answer.
    pub async fn can_use(&self, _context: &Rc<Context>, _tool: &dyn Tool, _tool_use: &ToolUse) -> Decision {
        Decision::Allowed
    }
}
