//! Everything that a run begins with.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::{Act, Observer, Outage, Pace, RateLimits, Sizing};
use crate::agent::definition::Definitions;
use crate::agent::hook::Hooks;
use crate::agent::input::Command;
use crate::agent::permission::Permissions;
use crate::agent::session::Skills;
use crate::agent::tool::{self, Tools};
use crate::agent::world::World;
use crate::agent::{Entry, Settings};
use crate::cache::Rules;
use crate::model::Script;
use crate::pricing::{Date, PriceBook};
use crate::time::Plan;

/// Everything that a run begins with; two runs of one setup are the same run.
pub struct Setup {
    /// Where chance begins.
    pub seed: u64,
    /// Options of the session.
    pub settings: Settings,
    /// Remote flags that are warm or cold from the start.
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
    /// Slash commands by name, without the slash.
    pub commands: BTreeMap<Rc<str>, Rc<dyn Command>>,
    /// What stands in the main conversation already.
    pub history: Vec<Rc<Entry>>,
    /// What the model says.
    pub script: Box<dyn Script>,
    /// What the user does.
    pub acts: Vec<Act>,
    /// The cache's rules.
    pub rules: Rules,
    /// How tokens are counted.
    pub sizing: Sizing,
    /// The prices.
    pub book: Rc<PriceBook>,
    /// The day of the prices; `None` for the newest.
    pub prices_of: Option<Date>,
    /// How fast the provider is.
    pub pace: Pace,
    /// When the provider refuses everything.
    pub outages: Vec<Outage>,
    /// How much it takes in a minute. By default it takes everything.
    pub rate_limits: RateLimits,
    /// Scheduling and limits.
    pub plan: Plan,
    /// Answers of the model, of all agents together, after which the run is stopped.
    pub turns_max: Option<u64>,
    /// Who looks on: `laws::all`, say.
    pub observers: Vec<Box<dyn Observer>>,
    /// Keeps every event. The digest is made in any case.
    pub keeps_events: bool,
    /// Keeps every request, for its body. They share what they have in common, so this costs little.
    pub keeps_drafts: bool,
    /// Says of each request why it missed and how it is laid out. Without it wide fan-outs cost what each child has to
    /// itself: only usage and money are known of their requests.
    pub explains: bool,
}

impl Setup {
    /// An interactive session by default settings with all tools, in an empty world, whose user does nothing; `script`
    /// answers under the default rules, at the newest prices. Nobody looks on.
    pub fn new(seed: u64, script: impl Script + 'static) -> Self {
        Self {
            seed,
            settings: Settings::default(),
            flags: BTreeMap::new(),
            permissions: Permissions::default(),
            definitions: Definitions::default(),
            skills: Skills::default(),
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
            pace: Pace::default(),
            outages: Vec::new(),
            rate_limits: RateLimits::default(),
            plan: Plan::default(),
            turns_max: None,
            observers: Vec::new(),
            keeps_events: false,
            keeps_drafts: false,
            explains: true,
        }
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("seed", &self.seed).field("acts", &self.acts).finish_non_exhaustive()
    }
}
