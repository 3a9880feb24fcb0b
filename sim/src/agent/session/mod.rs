//! The state of one session, shared by all its agents.

pub mod context;
mod flags;
pub mod fork;
mod front;
mod hooks;
pub mod internal;
mod kept;
mod launch;
mod open;
pub mod pool;
mod scoped;
pub mod servers;
mod skills;
pub mod tool;
mod user_context;

use std::ops::Deref;
use std::rc::Rc;

pub use context::{Context, Continued, Memory, Scope, SubAgent};
pub use flags::Flags;
pub use front::{Command, FrontEnd, Handling, Rewriting};
pub use internal::{CanUse, Helper, Helpers};
pub use kept::{Kept, Remains};
pub use open::Opening;
pub use pool::Pool;
pub use scoped::Scoped;
pub use servers::{Server, Servers};
pub use skills::{Match, Skills};
pub use tool::{Call, Content, Effect, Outcome, Tool, ToolError, Tools};
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
use super::team::Team;
use super::transcript::Transcripts;
use super::world::World;
use super::world::git::Repository;
use crate::model::Model;
use fork::Origins;
use launch::Launches;

/// A session: one user, one working directory, one main agent and its descendants. Clock, ids and events come from its
/// [`Ground`], which all of its stores share.
pub struct Session {
    ground: Rc<Ground>,
    /// Options that never change.
    pub settings: Rc<Settings>,
    /// The model that answers.
    pub model: Rc<dyn Model>,
    /// Remote feature flags; they can flip (contract PROMPT-05).
    pub flags: Flags,
    /// Rules and modes (`toolPermissionContext`), and requests that wait for an answer.
    pub permissions: Permissions,
    /// Agent types.
    pub definitions: Definitions,
    /// Skills that agents can be given.
    pub skills: Skills,
    /// MCP servers.
    pub servers: Rc<Servers>,
    /// All tools of the runtime.
    pub tools: Tools,
    /// Hooks of the session and of its current agents.
    pub hooks: Hooks,
    /// The user's side.
    pub front: FrontEnd,
    /// The queue.
    pub queue: Rc<Queue>,
    /// Running tasks, foreground and background.
    pub tasks: Rc<Tasks>,
    /// Notifications of background tasks.
    pub notifications: Notifications,
    /// Teams: teammates, their mailboxes, the shared list.
    pub team: Team,
    /// Message logs.
    pub transcripts: Transcripts,
    /// What ended agents need to go on.
    pub kept: Kept,
    /// Files and shell.
    pub world: Rc<World>,
    /// The repository in the working directory, if there is one.
    pub git: Option<Rc<Repository>>,
    /// User contexts, which precede conversations.
    pub user_contexts: UserContexts,
    /// State of agents while they run.
    pub scoped: Scoped,
    /// Internal forks.
    pub helpers: Helpers,
    /// State that forks share.
    pub origins: Origins,
    /// Agents that start together.
    pub launches: Launches,
}

impl Deref for Session {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Session {
    /// Definitions that are neither denied nor lack a server, ordered by name: those that a model sees (PROMPT-18).
    pub fn visible_definitions(&self) -> Vec<Rc<AgentDefinition>> {
        let mut shown = self.definitions.not_denied(&self.permissions);
        let present = self.servers.present();
        shown.retain(|definition| definition.missing(&present).is_empty());
        shown
    }

    /// Number of background tasks that run, and of messages and items that an agent will still read. The session does
    /// not end before it is zero.
    pub fn work(&self) -> usize {
        self.tasks.running() + self.team.unread() + self.queue.addressed()
    }

    /// Sends the teammates home, and waits until all that they leave is cleaned up.
    pub async fn dismiss(&self) {
        self.team.dismiss().await;
        loop {
            let changed = self.tasks.changed();
            if self.tasks.running() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Sets a remote flag, possibly in mid-session (contract PROMPT-05); a change is emitted as an event.
    pub fn set_flag(&self, flag: &str, value: bool) {
        if self.flags.set(flag, value) {
            self.emit(&Event::FlagFlipped { flag: flag.into(), value });
        }
    }
}
