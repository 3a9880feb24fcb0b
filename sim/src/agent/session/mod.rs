//! What one session has, and what all its agents share.

mod flags;
mod ids;
mod open;
mod scoped;
mod settings;
mod sizes;
mod skills;

use std::rc::Rc;

pub use flags::Flags;
pub use ids::Ids;
pub use open::Opening;
pub use scoped::{Dump, Scoped};
pub use settings::{Environment, Fragment, ModelNames, Retries, Settings};
pub use sizes::{AgentSizes, PartSizes, shared_out};
pub use skills::{Match, Skill, Skills};

use super::definition::Definitions;
use super::event::{Event, Sink};
use super::hook::Hooks;
use super::input::FrontEnd;
use super::permission::Permissions;
use super::prompt::UserContexts;
use super::queue::Queue;
use super::spawn::fork::Origins;
use super::task::Tasks;
use super::tool::Tools;
use super::transcript::Transcripts;
use super::world::World;
use crate::model::Model;
use crate::time::{Handle, Instant};

/// A session: one user, one working directory, one main agent and its descendants.
pub struct Session {
    /// Options that never change.
    pub settings: Settings,
    /// The clock and the executor.
    pub handle: Handle,
    /// Who answers.
    pub model: Rc<dyn Model>,
    /// Who watches.
    pub sink: Rc<dyn Sink>,
    /// Ids, drawn from the seed.
    pub ids: Ids,
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
    pub queue: Queue,
    /// What runs, in front and behind.
    pub tasks: Tasks,
    /// Message logs.
    pub transcripts: Transcripts,
    /// Files and shell.
    pub world: World,
    /// What precedes conversations.
    pub user_contexts: UserContexts,
    /// What is kept for agents while they run.
    pub scoped: Scoped,
    /// What forks share.
    pub origins: Origins,
}

impl Session {
    /// The instant.
    pub fn now(&self) -> Instant {
        self.handle.now()
    }

    /// Tells the watcher of `event`.
    pub fn emit(&self, event: &Event) {
        self.sink.take(self.handle.now(), event);
    }

    /// Gives a remote flag a value, in mid-session too (contract PROMPT-05); a change is told to the watcher.
    pub fn set_flag(&self, flag: &str, value: bool) {
        if self.flags.set(flag, value) {
            self.emit(&Event::FlagFlipped { flag: flag.into(), value });
        }
    }
}
