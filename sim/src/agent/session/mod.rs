//! What one session has, and what all its agents share.

pub mod context;
mod flags;
pub mod fork;
mod front;
mod hooks;
mod launch;
mod open;
pub mod pool;
mod scoped;
mod skills;
pub mod tool;
mod user_context;

use std::ops::Deref;
use std::rc::Rc;

pub use context::{Context, Continued, Memory, Scope, SubAgent};
pub use flags::Flags;
pub use front::{Command, FrontEnd, Handling};
pub use open::Opening;
pub use pool::Pool;
pub use scoped::Scoped;
pub use skills::{Match, Skill, Skills};
pub use tool::{Call, Effect, Offer, Outcome, Tool, ToolError, Tools};
pub use user_context::UserContexts;

use super::definition::{AgentDefinition, Definitions};
use super::event::Event;
use super::ground::Ground;
use super::hook::Hooks;
use super::notification::Notifications;
use super::permission::Permissions;
use super::queue::Queue;
use super::settings::Settings;
use super::task::Tasks;
use super::transcript::Transcripts;
use super::world::World;
use crate::model::Model;
use fork::Origins;

/// A session: one user, one working directory, one main agent and its descendants. It stands on its [`Ground`], and so do
/// all of its stores: clock, ids and events of it are the ground's.
pub struct Session {
    ground: Rc<Ground>,
    /// Options that never change.
    pub settings: Rc<Settings>,
    /// Who answers.
    pub model: Rc<dyn Model>,
    /// Remote feature flags; they can flip (contract PROMPT-05).
    pub flags: Flags,
    /// Rules and modes (`toolPermissionContext`), and requests that wait for an answer.
    pub permissions: Permissions,
    /// Kinds of agents.
    pub definitions: Definitions,
    /// Skills that agents can be given.
    pub skills: Skills,
    /// Every tool that there is.
    pub tools: Tools,
    /// Hooks of the session; those of agents come and go.
    pub hooks: Hooks,
    /// Where the user sits.
    pub front: FrontEnd,
    /// The one queue.
    pub queue: Rc<Queue>,
    /// What runs, in front and behind.
    pub tasks: Rc<Tasks>,
    /// What background tasks tell.
    pub notifications: Notifications,
    /// Message logs.
    pub transcripts: Transcripts,
    /// Files and shell.
    pub world: Rc<World>,
    /// What precedes conversations.
    pub user_contexts: UserContexts,
    /// What is kept for agents while they run.
    pub scoped: Scoped,
    /// What forks share.
    pub origins: Origins,
}

impl Deref for Session {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Session {
    /// Definitions that are neither denied nor lack a server, in order of their names: what a model is shown (PROMPT-18).
    pub fn visible_definitions(&self) -> Vec<Rc<AgentDefinition>> {
        let mut shown = self.definitions.not_denied(&self.permissions);
        shown.retain(|definition| definition.missing(&self.settings.mcp_servers).is_empty());
        shown
    }

    /// Gives a remote flag a value, in mid-session too (contract PROMPT-05); a change is told to the watcher.
    pub fn set_flag(&self, flag: &str, value: bool) {
        if self.flags.set(flag, value) {
            self.emit(&Event::FlagFlipped { flag: flag.into(), value });
        }
    }
}
