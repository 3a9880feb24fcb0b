//! Options of the session. Omitted options have the runtime's defaults.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Settings;
use forkcast_sim::agent::definition::Ranking;
use forkcast_sim::agent::permission::Mode;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::settings::{
    Caller, Compaction, Environment, Idle, ModelNames, Place, RemoteRun, Retries, Teams, Worktrees,
};
use forkcast_sim::agent::world::git::Remote;
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{TOKENS_MAX, Ttl};

use super::reading::{At, yes};
use super::{forks, outline};

/// Options of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// Those of the runtime, as far as they are said here.
    pub settings: Settings,
    /// The main agent's permission mode.
    pub permission_mode: Mode,
    /// Whether the user allowed `bypassPermissions`.
    pub bypass_allowed: bool,
    /// The agents have TaskOutput and TaskStop.
    pub task_tools: bool,
    /// The agents have SendMessage.
    pub messages: bool,
    /// The agents have the Skill tool.
    pub skill_tool: bool,
}

/// Which definition of a name wins.
pub(super) const RANKINGS: [(&str, Ranking); 2] = [("public", Ranking::Public), ("contract", Ranking::Contract)];

/// Rules of clients for conversations that are not continued.
pub(super) const IDLES: [(&str, Idle); 1] = [("client-2026-10", Idle::CLIENT_2026_10)];

impl SessionOptions {
    /// Reads `session`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::SESSION)?;
        let mut settings = Settings::default();
        fields.set("id", &mut settings.session, At::name);
        fields.set("interactive", &mut settings.interactive, At::truth);
        fields.set("model", &mut settings.model, At::name);
        fields.may("models", |at| models(at, &mut settings.model_names));
        fields.set("cwd", &mut settings.cwd, absolute);
        fields.set("home", &mut settings.home, absolute);
        fields.may("environment", |at| environment(at, &mut settings.environment));
        fields.set("internal_build", &mut settings.internal_build, At::truth);
        fields.set("max_turns", &mut settings.max_turns, |at| at.small(1).map(Some));
        fields.set("max_depth", &mut settings.max_depth, |at| at.small(0).map(Some));
        fields.set("max_tokens", &mut settings.max_tokens, |at| at.between(1, TOKENS_MAX));
        fields.set("thinking", &mut settings.thinking, |at| Some(thinking(at)));
        fields.set("effort", &mut settings.effort, |at| at.name().map(Some));
        fields.set("streaming_tools", &mut settings.streaming_tools, At::truth);
        fields.set("assistant", &mut settings.assistant, At::truth);
        fields.set("helpers", &mut settings.helpers, helpers);
        fields.set("compaction", &mut settings.compaction, |at| compaction(at).map(Some));
        fields.set("ranking", &mut settings.ranking, |at| at.word(&RANKINGS));
        fields.may("retries", |at| retries(at, &mut settings.retries));
        fields.set("token_budget", &mut settings.token_budget, |at| at.tokens().map(Some));
        fields.set("classifier_ms", &mut settings.classifier, |at| at.number().map(Duration::from_millis));
        fields.set("breakpoints", &mut settings.placement, |at| at.word(&Placement::WORDS));
        fields.set("ttl", &mut settings.ttl, |at| at.word(&Ttl::WORDS));
        fields.set("forks", &mut settings.forks, forks::of);
        fields.set("worktrees", &mut settings.worktrees, worktrees);
        fields.set("teams", &mut settings.teams, |at| teams(at).map(Some));
        settings.remote = fields.list("remote", remote);
        Some(Self {
            settings,
            permission_mode: fields.or_default("permission_mode", |at| at.word(&Mode::WORDS)),
            bypass_allowed: fields.or_default("bypass_allowed", At::truth),
            task_tools: fields.or_default("task_tools", At::truth),
            messages: fields.or_default("messages", At::truth),
            skill_tool: fields.or_default("skill_tool", At::truth),
        })
    }
}

/// The `thinking` parameter as JSON; `null` for none.
fn thinking(at: &At<'_>) -> Option<Rc<str>> {
    let json = at.json();
    (!json.is_null()).then(|| json.to_string().into())
}

fn models(at: &At<'_>, names: &mut ModelNames) -> Option<()> {
    let fields = at.fields(&outline::MODELS)?;
    fields.set("sonnet", &mut names.sonnet, At::name);
    fields.set("opus", &mut names.opus, At::name);
    fields.set("haiku", &mut names.haiku, At::name);
    Some(())
}

fn retries(at: &At<'_>, retries: &mut Retries) -> Option<()> {
    let fields = at.fields(&outline::RETRIES)?;
    fields.set("attempts_max", &mut retries.attempts_max, |at| at.small(0));
    let wait = |at: &At<'_>| at.number().map(Duration::from_millis);
    fields.set("waits_ms", &mut retries.waits, |at| at.list(wait).map(Into::into));
    Some(())
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

fn environment(at: &At<'_>, made: &mut Environment) -> Option<()> {
    let fields = at.fields(&outline::ENVIRONMENT)?;
    fields.set("git", &mut made.git, At::truth);
    fields.set("platform", &mut made.platform, At::shared);
    fields.set("shell", &mut made.shell, At::shared);
    fields.set("os_version", &mut made.os_version, At::shared);
    fields.set("knowledge_cutoff", &mut made.knowledge_cutoff, At::shared);
    fields.set("date", &mut made.date, At::shared);
    Some(())
}
