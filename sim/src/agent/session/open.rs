//! How a session begins.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Flags, Ids, Scoped, Session, Settings, Skills};
use crate::agent::definition::{self, Definitions};
use crate::agent::event::Sink;
use crate::agent::hook::Hooks;
use crate::agent::input::FrontEnd;
use crate::agent::permission::Permissions;
use crate::agent::prompt::UserContexts;
use crate::agent::queue::Queue;
use crate::agent::spawn::fork::Origins;
use crate::agent::task::Tasks;
use crate::agent::tool::Tools;
use crate::agent::transcript::Transcripts;
use crate::agent::world::World;
use crate::model::Model;
use crate::seed::Seed;
use crate::time::Handle;

/// Everything that a session begins with.
pub struct Opening {
    /// Options that never change.
    pub settings: Settings,
    /// The run's seed.
    pub seed: Seed,
    /// Who answers.
    pub model: Rc<dyn Model>,
    /// Who watches.
    pub sink: Rc<dyn Sink>,
    /// Flags that are warm or cold from the start.
    pub flags: BTreeMap<String, bool>,
    /// Rules and modes.
    pub permissions: Permissions,
    /// Kinds of agents.
    pub definitions: Definitions,
    /// Skills that agents can be given.
    pub skills: Skills,
    /// Every tool that there is.
    pub tools: Tools,
    /// Hooks of the session.
    pub hooks: Hooks,
    /// Files and shell.
    pub world: World,
}

impl Opening {
    /// Opens the session on this clock; tells what became of every definition (contract ADEF-24).
    pub fn open(self, handle: Handle) -> Rc<Session> {
        let session = Rc::new(Session {
            settings: self.settings,
            handle,
            model: self.model,
            sink: self.sink,
            ids: Ids::new(&self.seed),
            flags: Flags::new(self.flags),
            permissions: self.permissions,
            definitions: self.definitions,
            skills: self.skills,
            tools: self.tools,
            hooks: self.hooks,
            front: FrontEnd::default(),
            queue: Queue::default(),
            tasks: Tasks::default(),
            transcripts: Transcripts::default(),
            world: self.world,
            user_contexts: UserContexts::default(),
            scoped: Scoped::default(),
            origins: Origins::default(),
        });
        definition::announce(&session);
        session
    }
}
