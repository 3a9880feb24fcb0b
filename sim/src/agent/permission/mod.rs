//! Permissions in three layers (contract PERM-01): whether an agent may start, which tools it has, and how its requests
//! at run time are handled.
//!
//! * [`rule`]: permission rules. They belong to the session and apply to every agent in every mode (PERM-13).
//! * [`request`]: requests that wait for the user's answer (PERM-16..18).
//!
//! The first layer is [`Permissions::denies_agent`] (PERM-03, PERM-04), the second `session::pool` (TOOLS). `query`
//! applies rules and modes in their order (PERM-09..12).

pub mod request;
pub mod rule;

use std::cell::Cell;

use crate::outside::words;
pub use request::{Answered, Request, Route};
pub use rule::{Rule, RuleError, Rules};

words! {
    /// How permission requests of an agent are handled.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Mode {
        /// Ask, or allow by rule.
        #[default]
        Default = "default",
        /// Edits and safe reads are allowed; the rest is as in `default` (PERM-09).
        AcceptEdits = "acceptEdits",
        /// Nothing is changed.
        Plan = "plan",
        /// Everything is allowed; only if the user enabled it (PERM-11).
        BypassPermissions = "bypassPermissions",
        /// Requests go to the parent's terminal (PERM-12).
        Bubble = "bubble",
    }
}

/// Rules, modes and open requests of a session.
#[derive(Debug, Default)]
pub struct Permissions {
    /// The main agent's mode.
    pub mode: Cell<Mode>,
    /// The user allowed `bypassPermissions` (PERM-11).
    pub bypass_allowed: bool,
    /// What the session allows, denies and asks for.
    pub rules: Rules,
    requests: request::Requests,
}

impl Permissions {
    /// Permissions of a session that starts in `mode` with these rules.
    pub fn new(mode: Mode, bypass_allowed: bool, rules: Rules) -> Self {
        let permissions = Self { bypass_allowed, rules, ..Self::default() };
        permissions.mode.set(permissions.admitted(mode));
        permissions
    }

    /// The mode that an agent gets when it asks for `mode`: `bypassPermissions` becomes `default` unless the user
    /// enabled it (PERM-11).
    pub fn admitted(&self, mode: Mode) -> Mode {
        if mode == Mode::BypassPermissions && !self.bypass_allowed { Mode::Default } else { mode }
    }

    /// Whether a rule denies every call of `tool`.
    pub fn denies_tool(&self, tool: &str) -> bool {
        self.rules.deny.iter().any(|rule| rule.is_all_of(tool))
    }

    /// Whether a rule denies agents of this type: `Agent(type)`, or `Agent` for all (PERM-03, PERM-04).
    pub fn denies_agent(&self, agent_type: &str) -> bool {
        self.rules.deny.iter().any(|rule| rule.is_agent(agent_type))
    }
}
