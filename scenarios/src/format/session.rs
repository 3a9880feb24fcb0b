//! Options of the session. Omitted options have the runtime's defaults.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::definition::Ranking;
use forkcast_sim::agent::permission::Mode;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::settings::{Caller, Compaction, Idle, Place, RemoteRun, Teams, Worktrees};
use forkcast_sim::agent::spawn::fork::Forks;
use forkcast_sim::agent::world::git::Remote;
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{TOKENS_MAX, Ttl};

use super::reading::{At, Fields, yes};
use super::{forks, outline};

/// Options of a session; `None` means the runtime's default.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// Its id.
    pub id: Option<Rc<str>>,
    /// Whether a user sits at a terminal.
    pub interactive: Option<bool>,
    /// The main agent's model.
    pub model: Option<Rc<str>>,
    /// What `sonnet`, `opus` and `haiku` mean.
    pub models: [Option<Rc<str>>; 3],
    /// Working directory.
    pub cwd: Option<Rc<str>>,
    /// The user's home.
    pub home: Option<Rc<str>>,
    /// The environment that the prompt describes.
    pub environment: EnvironmentText,
    /// Whether this is a build for the vendor's own staff.
    pub internal_build: Option<bool>,
    /// Turn limit of the main agent in one query.
    pub max_turns: Option<u32>,
    /// Maximum nesting depth of agents.
    pub max_depth: Option<u32>,
    /// Maximum output tokens of a request.
    pub max_tokens: Option<u64>,
    /// The `thinking` parameter as JSON.
    pub thinking: Option<Rc<str>>,
    /// Effort.
    pub effort: Option<Rc<str>>,
    /// The main agent's permission mode.
    pub permission_mode: Option<Mode>,
    /// Whether the user allowed `bypassPermissions`.
    pub bypass_allowed: Option<bool>,
    /// Tools start while the answer is still streaming.
    pub streaming_tools: Option<bool>,
    /// The agents have TaskOutput and TaskStop.
    pub task_tools: bool,
    /// The agents have SendMessage.
    pub messages: bool,
    /// The agents have the Skill tool.
    pub skill_tool: bool,
    /// Assistant mode.
    pub assistant: bool,
    /// Helpers of the runtime, with how often they run.
    pub helpers: BTreeMap<Caller, u64>,
    /// When conversations are made shorter.
    pub compaction: Option<Compaction>,
    /// Which definition of a name wins.
    pub ranking: Option<Ranking>,
    /// Attempts after the first.
    pub attempts_max: Option<u32>,
    /// Waits before further attempts, in milliseconds.
    pub waits_ms: Option<Vec<u64>>,
    /// Output tokens after which the budget continues the loop.
    pub token_budget: Option<u64>,
    /// Duration of the classifier of finished background tasks.
    pub classifier_ms: Option<u64>,
    /// Where breakpoints are placed.
    pub breakpoints: Option<Placement>,
    /// TTL of the breakpoints.
    pub ttl: Option<Ttl>,
    /// How forks are built and when they start.
    pub forks: Option<Forks>,
    /// How worktrees are made.
    pub worktrees: Option<Worktrees>,
    /// Teams.
    pub teams: Option<Teams>,
    /// What the service for remote agents does.
    pub remote: Vec<RemoteRun>,
}

/// The environment that the prompt describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentText {
    /// The directory is a git repository.
    pub git: Option<bool>,
    /// Such as `linux`.
    pub platform: Option<Rc<str>>,
    /// Such as `bash`.
    pub shell: Option<Rc<str>>,
    /// Such as `Linux 6.1`.
    pub os_version: Option<Rc<str>>,
    /// Such as `2026-01`.
    pub knowledge_cutoff: Option<Rc<str>>,
    /// Today's date, for the prompt.
    pub date: Option<Rc<str>>,
}

/// Which definition of a name wins.
pub(super) const RANKINGS: [(&str, Ranking); 2] = [("public", Ranking::Public), ("contract", Ranking::Contract)];

/// Rules of clients for conversations that are not continued.
pub(super) const IDLES: [(&str, Idle); 1] = [("client-2026-10", Idle::CLIENT_2026_10)];

impl SessionOptions {
    /// Reads `session`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::SESSION)?;
        let truth = |name: &str| fields.may(name, At::truth);
        let name = |name: &str| fields.may(name, At::name);
        let retries = fields.may("retries", |at| at.fields(&outline::RETRIES));
        let waits = |at: &At<'_>| at.list(At::number);
        Some(Self {
            id: name("id"),
            interactive: truth("interactive"),
            model: name("model"),
            models: models(&fields),
            cwd: fields.may("cwd", absolute),
            home: fields.may("home", absolute),
            environment: fields.or_default("environment", EnvironmentText::of),
            internal_build: truth("internal_build"),
            max_turns: fields.may("max_turns", |at| at.small(1)),
            max_depth: fields.may("max_depth", |at| at.small(0)),
            max_tokens: fields.may("max_tokens", |at| at.between(1, TOKENS_MAX)),
            thinking: fields.get("thinking").map(|at| at.json().to_string().into()),
            effort: name("effort"),
            permission_mode: fields.may("permission_mode", |at| at.word(&Mode::WORDS)),
            bypass_allowed: truth("bypass_allowed"),
            streaming_tools: truth("streaming_tools"),
            task_tools: fields.or_default("task_tools", At::truth),
            messages: fields.or_default("messages", At::truth),
            skill_tool: fields.or_default("skill_tool", At::truth),
            assistant: fields.or_default("assistant", At::truth),
            helpers: fields.or_default("helpers", helpers),
            compaction: fields.may("compaction", compaction),
            ranking: fields.may("ranking", |at| at.word(&RANKINGS)),
            attempts_max: retries.as_ref().and_then(|retries| retries.may("attempts_max", |at| at.small(0))),
            waits_ms: retries.as_ref().and_then(|retries| retries.may("waits_ms", waits)),
            token_budget: fields.may("token_budget", At::tokens),
            classifier_ms: fields.may("classifier_ms", At::number),
            breakpoints: fields.may("breakpoints", |at| at.word(&Placement::WORDS)),
            ttl: fields.may("ttl", |at| at.word(&Ttl::WORDS)),
            forks: fields.may("forks", forks::of),
            worktrees: fields.may("worktrees", worktrees),
            teams: fields.may("teams", teams),
            remote: fields.list("remote", remote),
        })
    }
}

fn models(fields: &Fields<'_>) -> [Option<Rc<str>>; 3] {
    let Some(models) = fields.may("models", |at| at.fields(&outline::MODELS)) else { return Default::default() };
    ["sonnet", "opus", "haiku"].map(|name| models.may(name, At::name))
}

/// Helpers by name. Those that something else starts have no number.
fn helpers(at: &At<'_>) -> Option<BTreeMap<Caller, u64>> {
    let fields = at.fields(&outline::HELPERS)?;
    let often = |name| Some((Caller::named(name)?, fields.may(name, |at| at.between(1, u64::MAX))?));
    Some(outline::HELPERS.names().into_iter().filter_map(often).collect())
}

/// Thresholds of compaction.
fn compaction(at: &At<'_>) -> Option<Compaction> {
    let fields = at.fields(&outline::COMPACTION)?;
    let percent = |name: &str| fields.may(name, |at| at.between(1, 100));
    let kept = fields.may("kept_results", |at| at.small(0)).unwrap_or(3);
    Some(Compaction {
        window_tokens: fields.must("window_tokens", |at| at.between(1, TOKENS_MAX))?,
        percents: [percent("snip_percent"), percent("micro_percent"), percent("auto_percent")],
        kept_results: kept as usize,
        idle: fields.may("idle", |at| at.word(&IDLES)),
    })
}

/// Worktrees. Prompts offer them unless the scenario says otherwise.
fn worktrees(at: &At<'_>) -> Option<Worktrees> {
    let fields = at.fields(&outline::WORKTREES)?;
    let default = Worktrees::default();
    let is_private = fields.or_default("private_remote", At::truth);
    Some(Worktrees {
        are_offered: fields.may("offered", At::truth).unwrap_or(true),
        linked: fields.may("linked", |at| at.list(At::name)).unwrap_or(default.linked),
        by_hook: fields.or_default("by_hook", At::truth),
        remote: if is_private { Remote::Private } else { Remote::Open },
        takes: Duration::from_millis(fields.or_default("takes_ms", At::number)),
    })
}

/// A run of the service for remote agents.
fn remote(at: &At<'_>) -> Option<RemoteRun> {
    let fields = at.fields(&outline::REMOTE)?;
    let takes = Duration::from_millis(fields.or_default("takes_ms", At::number));
    Some(RemoteRun {
        prompt: Pattern::new(&fields.must("prompt", At::name)?),
        result: fields.or_default("result", At::shared),
        fails: fields.or_default("fails", At::truth),
        takes: fields.may("never_ends", yes).is_none().then_some(takes),
    })
}

/// Teams, with their defaults for omitted options.
fn teams(at: &At<'_>) -> Option<Teams> {
    let fields = at.fields(&outline::TEAMS)?;
    let default = Teams::default();
    let places = fields.may("places", |at| at.named(|_, place| place.word(&Place::WORDS)));
    Some(Teams {
        current: fields.may("current", At::name),
        places: places.into_iter().flatten().map(|(name, place)| (name.into(), place)).collect(),
        capacity: fields.may("capacity", |at| at.small(1)).map_or(default.capacity, |capacity| capacity as usize),
        poll: fields.may("poll_ms", At::number).map_or(default.poll, Duration::from_millis),
        bridge: fields.may("bridge", At::truth).unwrap_or(default.bridge),
    })
}

/// An absolute path of the simulated machine.
pub fn absolute(at: &At<'_>) -> Option<Rc<str>> {
    let path = at.name()?;
    if !path.starts_with('/') {
        at.wrong("expected a path of the simulated machine that begins with `/`");
        return None;
    }
    Some(path)
}

impl EnvironmentText {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::ENVIRONMENT)?;
        let text = |name: &str| fields.may(name, At::shared);
        Some(Self {
            git: fields.may("git", At::truth),
            platform: text("platform"),
            shell: text("shell"),
            os_version: text("os_version"),
            knowledge_cutoff: text("knowledge_cutoff"),
            date: text("date"),
        })
    }
}
