//! How a session starts.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fork::Origins;
use super::launch::Launches;
use super::{Flags, FrontEnd, Helpers, Kept, Scoped, Server, Servers, Session, Skills, Tools, UserContexts};
use crate::agent::definition::{self, Definitions};
use crate::agent::event::{Event, Sink};
use crate::agent::ground::Ground;
use crate::agent::hook::Hooks;
use crate::agent::notification::Notifications;
use crate::agent::permission::Permissions;
use crate::agent::queue::Queue;
use crate::agent::settings::Settings;
use crate::agent::task::Tasks;
use crate::agent::team::Team;
use crate::agent::transcript::Transcripts;
use crate::agent::world::World;
use crate::agent::world::git::Repository;
use crate::model::Model;
use crate::seed::Seed;
use crate::time::Handle;

/// Everything a session starts with.
pub struct Opening {
    /// Options that never change.
    pub settings: Settings,
    /// The run's random seed.
    pub seed: Seed,
    /// The model that answers.
    pub model: Rc<dyn Model>,
    /// The receiver of events.
    pub sink: Rc<dyn Sink>,
    /// Initial values of flags.
    pub flags: BTreeMap<String, bool>,
    /// Rules and modes.
    pub permissions: Permissions,
    /// Agent types.
    pub definitions: Definitions,
    /// Skills that agents can be given.
    pub skills: Skills,
    /// MCP servers.
    pub servers: Vec<Server>,
    /// All tools of the runtime.
    pub tools: Tools,
    /// Hooks of the session.
    pub hooks: Hooks,
    /// Files and shell.
    pub world: World,
}

impl Opening {
    /// Opens the session on this clock, and emits the outcome of every definition (contract ADEF-24).
    pub fn open(self, handle: Handle) -> Rc<Session> {
        let ground = Ground::new(handle, &self.seed, self.sink);
        let settings = Rc::new(self.settings);
        let world = Rc::new(self.world);
        let git = settings.environment.git.then(|| repository(&settings, &world));
        let queue = Rc::new(Queue::new(ground.clone()));
        let tasks = Rc::new(Tasks::new(ground.clone()));
        let resumes = self.tools.get("SendMessage").is_some() && !settings.without_transcripts;
        let session = Rc::new(Session {
            kept: Kept::new(resumes),
            model: self.model,
            flags: Flags::new(self.flags),
            permissions: self.permissions,
            definitions: self.definitions,
            skills: self.skills,
            servers: Servers::new(ground.clone(), self.servers),
            tools: self.tools,
            hooks: self.hooks,
            front: FrontEnd::default(),
            notifications: Notifications::new(ground.clone(), queue.clone(), tasks.clone()),
            team: Team::new(ground.clone(), settings.clone(), world.clone()),
            transcripts: Transcripts::new(ground.clone(), settings.clone(), world.clone()),
            user_contexts: UserContexts::default(),
            scoped: Scoped::default(),
            helpers: Helpers::default(),
            origins: Origins::default(),
            launches: Launches::default(),
            ground,
            settings,
            queue,
            tasks,
            world,
            git,
        });
        announce(&session);
        session
    }
}

/// The repository in memory.
fn repository(settings: &Settings, world: &World) -> Rc<Repository> {
    let options = &settings.worktrees;
    Rc::new(Repository::new(&world.files, &settings.cwd, &options.linked, options.remote))
}

/// Emits the outcome of every definition once, when a session starts.
fn announce(session: &Session) {
    for fate in session.definitions.fates() {
        let mut outcome = fate.outcome.name();
        let mut why = fate.why.clone();
        let survivor = session.definitions.get(&fate.agent_type).filter(|_| fate.outcome == definition::Outcome::Kept);
        if let Some(definition) = survivor {
            let missing = definition.missing(&session.servers.present());
            if session.permissions.denies_agent(&definition.agent_type) {
                (outcome, why) = ("denied", "by a rule".into());
            } else if !missing.is_empty() {
                (outcome, why) = ("blocked", format!("no server: {}", missing.join(", ")).into());
            }
        }
        session.emit(&Event::Definition {
            agent_type: fate.agent_type.clone(),
            source: fate.source.name(),
            outcome,
            why,
        });
    }
}
