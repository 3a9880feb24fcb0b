//! The scenario format and its checks.
//!
//! The format is YAML 1.2, read strictly: unknown fields are refused, and every mistake is reported with file, line,
//! column, field and the value found ([`problem`]). A file is read in three steps: text to a tree whose values know
//! their places ([`tree`]), tree to the types of this module ([`reading`]), and checks that need more than one field
//! ([`check`]). All fields, with their values and meanings, are in one table ([`outline`]), from which the reader and the
//! schema for editors (`reports/schema/scenario-1.json`) take them.
//!
//! Sections, each in its own file: [`session`], [`forks`], [`prompt`] and [`history`] (options and texts), [`world`]
//! (files, shell, definitions, hooks, skills, permissions), [`tools`] (tools by data), [`script`] (the models' answers), [`user`] (the user's
//! acts), [`expect`] (expectations), [`variant`] (the same scenario with other values).

mod call_ids;
pub mod check;
pub mod expect;
pub mod forks;
pub mod history;
pub mod outline;
pub mod problem;
pub mod prompt;
pub mod reading;
pub mod script;
pub mod session;
pub mod set;
pub mod tools;
pub mod tree;
pub mod user;
pub mod variant;
pub mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use forkcast_sim::agent::definition::{Definitions, Text};
use forkcast_sim::agent::tool::{self, Tools};
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::pricing::Date;
use forkcast_sim::simulation::Pace;
use forkcast_sim::time::Duration;

use expect::Expect;
use problem::{Problem, Problems};
use prompt::PromptText;
use reading::{At, Fields, Notes};
use script::AgentScript;
use session::SessionOptions;
use set::Change;
use tools::{ServerText, ToolText};
use tree::{Node, Place};
use user::Act;
use world::WorldText;

/// A scenario.
///
/// ```
/// use forkcast_scenarios::format::Scenario;
///
/// let text = "about: One question.\nscript: {main: [{say: Yes.}]}\nuser: [{at_ms: 0, types: Well?}]\n";
/// let scenario = Scenario::read("question", "question.yaml", text, &[])?;
/// assert_eq!(scenario.user.len(), 1);
///
/// let wrong = Scenario::read("question", "question.yaml", "abuot: One question.\n", &[]);
/// assert!(wrong.unwrap_err().to_string().starts_with("question.yaml:1:1"));
/// # Ok::<(), forkcast_scenarios::format::problem::Problems>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// Its name: that of its file, prefixed by its folder if it belongs to the catalog.
    pub name: Rc<str>,
    /// The file, as named by the user.
    pub file: Rc<str>,
    /// What it shows, in prose.
    pub about: String,
    /// Ids of the behaviour contract that this scenario tests.
    pub covers: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Options of the session.
    pub session: SessionOptions,
    /// Environment variables of the process.
    pub variables: BTreeMap<String, String>,
    /// Compile-time features that are on.
    pub features: BTreeSet<String>,
    /// Remote flags and their initial values.
    pub flags: BTreeMap<String, bool>,
    /// The cache's rules; by default those of simulations.
    pub cache: Option<Rules>,
    /// The day of the prices; the newest by default.
    pub prices: Option<Date>,
    /// When the run is stopped.
    pub limits: Limits,
    /// Speed of the provider.
    pub pace: Pace,
    /// Prompt texts, or declared sizes.
    pub prompt: PromptText,
    /// Files, shell, agent types, hooks, skills, permissions.
    pub world: WorldText,
    /// Tools by data.
    pub tools: Vec<ToolText>,
    /// MCP servers.
    pub servers: Vec<ServerText>,
    /// The models' answers, by agent.
    pub script: Vec<AgentScript>,
    /// The user's acts, in order of time.
    pub user: Vec<Act>,
    /// The expectations.
    pub expect: Expect,
    /// The same scenario with some fields changed.
    pub variants: Vec<Scenario>,
    /// The scenario that this varies.
    pub variant_of: Option<Box<Scenario>>,
}

/// When a run is stopped; the limits are not properties of the simulated system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Total turns of tasks.
    pub steps: Option<u64>,
    /// The latest instant that the clock may reach.
    pub until_ms: Option<u64>,
    /// Total answers of models.
    pub turns: Option<u64>,
}

impl Scenario {
    /// Reads the scenario `name` from the text of `file`, after `changes`.
    ///
    /// # Errors
    /// All mistakes.
    pub fn read(name: &str, file: &str, text: &str, changes: &[Change]) -> Result<Self, Problems> {
        let mut tree = Node::read(text).map_err(|broken| {
            let says = format!("this is not valid YAML: {}; check indentation, quotes and brackets", broken.why);
            one(file, broken.place, "", says)
        })?;
        Self::of_changed(name, file, &mut tree, changes)
    }

    /// The scenario `name` in a tree, as the text of `file` would have it, after `changes`.
    ///
    /// # Errors
    /// All mistakes.
    pub fn of_changed(name: &str, file: &str, tree: &mut Node, changes: &[Change]) -> Result<Self, Problems> {
        for change in changes {
            change.apply(tree).map_err(|says| one(file, Place::default(), &change.path, says))?;
        }
        let notes = Notes::new(file);
        let mut scenario = Self::of(name, file, &At::root(tree, &notes));
        check::whole(&scenario, &notes);
        scenario.variants = variant::all(&scenario, tree, changes, &notes);
        let problems = notes.done();
        if problems.is_empty() { Ok(scenario) } else { Err(Problems(problems)) }
    }

    /// Its agent types, one per name.
    pub fn kinds(&self) -> Definitions {
        let texts: Vec<Text> = self.world.definitions.iter().map(|definition| definition.text.clone()).collect();
        Definitions::gather(&texts, self.session.settings.ranking)
    }

    /// The tools of the runtime that its session has.
    pub fn own_tools(&self) -> Tools {
        let has_teams = self.session.settings.teams.is_some();
        let messages = self.session.messages || has_teams;
        let tools = tool::offered(self.session.task_tools, messages, self.session.skill_tool);
        if has_teams { tool::with_teams(&tools) } else { tools }
    }

    /// Its variant with this name.
    pub fn variant(&self, called: &str) -> Option<&Self> {
        let name = variant::name(&self.name, called);
        self.variants.iter().find(|variant| *variant.name == name)
    }

    fn of(name: &str, file: &str, at: &At<'_>) -> Self {
        let mut scenario = Self { name: name.into(), file: file.into(), ..Self::default() };
        if let Some(fields) = at.fields(&outline::SCENARIO) {
            scenario.claim(&fields);
            scenario.surroundings(&fields);
            scenario.prompt = PromptText::of(&fields);
            fields.may("sizes", |at| check::sizes_add_up(&scenario, at));
            scenario.world = WorldText::of(&fields);
            scenario.tools = fields.list("tools", ToolText::of);
            let servers = fields.or_default("servers", |at| at.named(ServerText::of));
            scenario.servers = servers.into_iter().map(|(_, server)| server).collect();
            scenario.script = script::of(&fields);
            scenario.user = fields.list("user", Act::of);
            scenario.expect = fields.or_default("expect", Expect::of);
        }
        scenario
    }

    fn claim(&mut self, fields: &Fields<'_>) {
        self.about = fields.must("about", At::text).unwrap_or_default();
        self.covers = fields.list("covers", covered);
        self.seed = fields.or_default("seed", At::number);
    }

    fn surroundings(&mut self, fields: &Fields<'_>) {
        self.session = fields.or_default("session", SessionOptions::of);
        let named = |at: &At<'_>| at.named(|_, value| value.text());
        self.variables = fields.or_default("variables", named).into_iter().collect();
        self.features = fields.list("features", At::text).into_iter().collect();
        let flags = fields.may("flags", |at| at.named(|_, value| value.truth()));
        self.flags = flags.unwrap_or_default().into_iter().collect();
        self.cache = fields.may("cache", |at| {
            let words: Vec<(&str, Rules)> = PRESETS.iter().map(|rules| (rules.name, *rules)).collect();
            at.word(&words)
        });
        self.prices = fields.may("prices", date);
        self.limits = fields.or_default("limits", Limits::of);
        self.pace = fields.or_default("pace", pace);
    }
}

fn one(file: &str, place: Place, path: &str, says: String) -> Problems {
    Problems(vec![Problem { file: file.into(), place, path: path.to_owned(), found: None, says }])
}

impl Limits {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::LIMITS)?;
        let number = |name: &str| fields.may(name, |at| at.between(1, u64::MAX));
        Some(Self { steps: number("steps"), until_ms: number("until_ms"), turns: number("turns") })
    }
}

/// Speed of the provider, with the simulation's defaults.
fn pace(at: &At<'_>) -> Option<Pace> {
    const NANOS_PER_SECOND: u64 = 1_000_000_000;
    let fields = at.fields(&outline::PACE)?;
    let millis = |at: &At<'_>| at.number().map(Duration::from_millis);
    let micros = |at: &At<'_>| at.number().map(|micros| Duration(micros.saturating_mul(1_000)));
    let mut pace = Pace::default();
    fields.set("base_ms", &mut pace.base, millis);
    fields.set("read_us_per_ktok", &mut pace.read_per_kilotoken, micros);
    fields.set("write_us_per_ktok", &mut pace.write_per_kilotoken, micros);
    fields.set("fresh_us_per_ktok", &mut pace.fresh_per_kilotoken, micros);
    fields.set("refusal_ms", &mut pace.refusal, millis);
    fields.set("output_tokens_per_second", &mut pace.per_output_token, |at| {
        Some(Duration(NANOS_PER_SECOND / at.between(1, u64::MAX)?))
    });
    Some(pace)
}

/// An id such as `LOOP-07`.
fn covered(at: &At<'_>) -> Option<String> {
    let id = at.text()?;
    let well_formed = id.split_once('-').is_some_and(|(group, number)| {
        !group.is_empty()
            && group.chars().all(|c| c.is_ascii_uppercase())
            && number.len() == 2
            && number.chars().all(|c| c.is_ascii_digit())
    });
    if !well_formed {
        at.wrong("expected the id of a behaviour, such as `LOOP-07`");
        return None;
    }
    Some(id)
}

/// A day such as `2026-11-22`.
fn date(at: &At<'_>) -> Option<Date> {
    let day = Date::parse(&at.text()?);
    if day.is_none() {
        at.wrong("expected a day such as 2026-11-22");
    }
    day
}
