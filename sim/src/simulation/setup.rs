//! Everything that a run starts with.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::{Act, Observer, Outage, Pace, RateLimits, Sizing};
use crate::agent::definition::Definitions;
use crate::agent::hook::Hooks;
use crate::agent::input::Command;
use crate::agent::permission::Permissions;
use crate::agent::session::{Server, Skills};
use crate::agent::tool::{self, Tools};
use crate::agent::world::World;
use crate::agent::{Entry, Settings};
use crate::cache::Rules;
use crate::model::Script;
use crate::pricing::{Date, PriceBook};
use crate::service;
use crate::time::Plan;

/// Everything that a run starts with; two runs of one setup are identical.
pub struct Setup {
    /// Random seed.
    pub seed: u64,
    /// Options of the session.
    pub settings: Settings,
    /// Remote flags that are warm or cold from the start.
    pub flags: BTreeMap<String, bool>,
    /// Rules and modes.
    pub permissions: Permissions,
    /// Kinds of agents.
    pub definitions: Definitions,
    /// Skills available to agents.
    pub skills: Skills,
    /// MCP servers.
    pub servers: Vec<Server>,
    /// All tools of the runtime.
    pub tools: Tools,
    /// Hooks of the session.
    pub hooks: Hooks,
    /// Files and shell.
    pub world: World,
    /// Slash commands by name, without the slash.
    pub commands: BTreeMap<Rc<str>, Rc<dyn Command>>,
    /// Messages that are already in the main conversation.
    pub history: Vec<Rc<Entry>>,
    /// The model's answers.
    pub script: Box<dyn Script>,
    /// The user's acts.
    pub acts: Vec<Act>,
    /// The cache's rules.
    pub rules: Rules,
    /// How tokens are counted.
    pub sizing: Sizing,
    /// The prices.
    pub book: Rc<PriceBook>,
    /// The day of the prices; `None` for the newest.
    pub prices_of: Option<Date>,
    /// When the provider's account was created: some models treat thinking by it; `None` if that is unknown.
    pub account_created: Option<Date>,
    /// The provider's speed.
    pub pace: Pace,
    /// Spans in which the provider refuses everything.
    pub outages: Vec<Outage>,
    /// Rate limits. By default there are none.
    pub rate_limits: RateLimits,
    /// Scheduling and limits.
    pub plan: Plan,
    /// Number of answers of the model, over all agents, after which the run is stopped.
    pub turns_max: Option<u64>,
    /// The observers: `laws::all`, for example.
    pub observers: Vec<Box<dyn Observer>>,
    /// Takes the ledger's entries when the run is over, one after another, instead of a list in
    /// [`Finished`](super::Finished): that of a hundred thousand children takes 100 MB.
    pub takes_entries: Option<Box<dyn FnMut(service::Entry)>>,
    /// Keeps every event.
    pub keeps_events: bool,
    /// Computes the digest over all events; without it no event is serialised.
    pub digests: bool,
    /// Keeps every request, for its body. They share common parts, so this costs little.
    pub keeps_drafts: bool,
    /// Keeps what every agent received, event by event.
    pub keeps_traffic: bool,
    /// Explains for each request why it missed and how it is laid out. If not, wide fan-outs only cost each child's own
    /// part: just usage and money of their requests are known.
    pub explains: bool,
}

impl Setup {
    /// An interactive session with default settings and all tools, in an empty world, with a user who does nothing;
    /// `script` answers under the default rules, at the newest prices. There are no observers.
    pub fn new(seed: u64, script: impl Script + 'static) -> Self {
        Self {
            seed,
            settings: Settings::default(),
            flags: BTreeMap::new(),
            permissions: Permissions::default(),
            definitions: Definitions::default(),
            skills: Skills::default(),
            servers: Vec::new(),
            tools: tool::every(),
            hooks: Hooks::default(),
            world: World::default(),
            commands: BTreeMap::new(),
            history: Vec::new(),
            script: Box::new(script),
            acts: Vec::new(),
            rules: Rules::default(),
            sizing: Sizing::default(),
            book: Rc::new(PriceBook::built_in()),
            prices_of: None,
            account_created: None,
            pace: Pace::default(),
            outages: Vec::new(),
            rate_limits: RateLimits::default(),
            plan: Plan::default(),
            turns_max: None,
            observers: Vec::new(),
            takes_entries: None,
            keeps_events: false,
            digests: true,
            keeps_drafts: false,
            keeps_traffic: false,
            explains: true,
        }
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("seed", &self.seed).field("acts", &self.acts).finish_non_exhaustive()
    }
}
