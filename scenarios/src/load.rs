//! Converts a scenario to the setup of a simulation. This cannot fail, because scenarios are checked when they are
//! read.

mod history;
mod sizes;
mod tools;

use std::rc::Rc;

use forkcast_sim::agent::Settings;
use forkcast_sim::agent::hook::Hooks;
use forkcast_sim::agent::input::Command;
use forkcast_sim::agent::permission::Permissions;
use forkcast_sim::agent::session::Skills;
use forkcast_sim::agent::settings::{Environment, ModelNames, Retries};
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::agent::world::{Change, Files, Rule as ShellRule, Shell, World};
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{self, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Pace, Recount, Setup};
use forkcast_sim::time::{Duration, Instant, Limits, Plan};

use crate::format::script::{AgentScript, Content, Reply};
use crate::format::user;
use crate::format::world::{self, WorldText};
use crate::format::{PaceText, Scenario};

/// Default limit on the answers of all models together.
pub(crate) const TURNS_MAX: u64 = 10_000;

/// The setup of a simulation. All events and requests are kept.
pub fn setup(scenario: &Scenario, interleave: Option<u64>) -> Setup {
    let rules = scenario.cache.unwrap_or_default();
    let commands = scenario.world.commands.iter().map(|(name, command)| {
        let command: Rc<dyn Command> = Rc::new(command.clone());
        (name.as_str().into(), command)
    });
    Setup {
        settings: settings(scenario),
        flags: scenario.flags.clone(),
        permissions: permissions(scenario),
        definitions: scenario.kinds(),
        skills: Skills::new(scenario.world.skills.iter().cloned()),
        hooks: hooks(&scenario.world),
        tools: tools::all(&scenario.own_tools(), &scenario.tools),
        servers: tools::servers(&scenario.servers),
        world: world(&scenario.world),
        commands: commands.collect(),
        acts: scenario.user.iter().map(act).collect(),
        history: history::entries(&scenario.prompt.history),
        rules,
        sizing: sizes::sizing(scenario),
        prices_of: scenario.prices,
        pace: pace(&scenario.pace),
        plan: plan(scenario, interleave),
        turns_max: Some(scenario.limits.turns.unwrap_or(TURNS_MAX)),
        observers: laws::all(&rules, &Seed::new(scenario.seed)),
        keeps_events: true,
        keeps_drafts: true,
        ..Setup::new(scenario.seed, script(scenario))
    }
}

/// Recounts the request sizes of this scenario's run.
pub fn recount(scenario: &Scenario) -> Recount {
    Recount::new(sizes::sizing(scenario), scenario.cache.unwrap_or_default().forms)
}

fn act(act: &user::Act) -> Act {
    Act { at: Instant::from_millis(act.at_ms), does: act.does.clone() }
}

/// Options of the session, with the runtime's defaults for omitted ones.
pub fn settings(scenario: &Scenario) -> Settings {
    let said = &scenario.session;
    let default = Settings::default();
    let [sonnet, opus, haiku] = said.models.clone();
    let text = |text: &Option<Rc<str>>, default: Rc<str>| text.clone().unwrap_or(default);
    Settings {
        session: text(&said.id, default.session),
        interactive: said.interactive.unwrap_or(default.interactive),
        model: text(&said.model, default.model),
        model_names: ModelNames {
            sonnet: sonnet.unwrap_or(default.model_names.sonnet),
            opus: opus.unwrap_or(default.model_names.opus),
            haiku: haiku.unwrap_or(default.model_names.haiku),
        },
        cwd: text(&said.cwd, default.cwd),
        home: text(&said.home, default.home),
        environment: environment(scenario, default.environment),
        variables: scenario.variables.clone(),
        features: scenario.features.clone(),
        internal_build: said.internal_build.unwrap_or(default.internal_build),
        assistant: said.assistant,
        max_turns: said.max_turns.or(default.max_turns),
        max_depth: said.max_depth.or(default.max_depth),
        max_tokens: said.max_tokens.unwrap_or(default.max_tokens),
        thinking: said.thinking.clone().or(default.thinking).filter(|thinking| &**thinking != "null"),
        effort: said.effort.clone().or(default.effort),
        placement: said.breakpoints.unwrap_or(default.placement),
        ttl: said.ttl.unwrap_or(default.ttl),
        streaming_tools: said.streaming_tools.unwrap_or(default.streaming_tools),
        ranking: said.ranking.unwrap_or(default.ranking),
        retries: retries(scenario, default.retries),
        token_budget: said.token_budget.or(default.token_budget),
        without_user_context: scenario.prompt.user_context.map_or(default.without_user_context, |wanted| !wanted),
        system: scenario.prompt.system.clone().map(|system| vec![system]),
        fragments: scenario.prompt.fragments.clone(),
        sizes: scenario.prompt.sizes,
        prefixes: scenario.prompt.prefixes.clone(),
        helpers: said.helpers.clone(),
        compaction: said.compaction,
        forks: said.forks.clone().unwrap_or(default.forks),
        teams: said.teams.clone(),
        remote: said.remote.clone(),
        worktrees: said.worktrees.clone().unwrap_or(default.worktrees),
        classifier: said.classifier_ms.map_or(default.classifier, Duration::from_millis),
        ..Settings::default()
    }
}

fn environment(scenario: &Scenario, default: Environment) -> Environment {
    let said = &scenario.session.environment;
    let text = |text: &Option<Rc<str>>, default: Rc<str>| text.clone().unwrap_or(default);
    Environment {
        git: said.git.unwrap_or(default.git),
        git_status: default.git_status,
        platform: text(&said.platform, default.platform),
        shell: text(&said.shell, default.shell),
        os_version: text(&said.os_version, default.os_version),
        knowledge_cutoff: text(&said.knowledge_cutoff, default.knowledge_cutoff),
        date: text(&said.date, default.date),
    }
}

fn retries(scenario: &Scenario, default: Retries) -> Retries {
    let waits = scenario.session.waits_ms.as_ref();
    Retries {
        attempts_max: scenario.session.attempts_max.unwrap_or(default.attempts_max),
        waits: waits.map_or(default.waits, |waits| waits.iter().copied().map(Duration::from_millis).collect()),
    }
}

/// Rules and modes.
pub fn permissions(scenario: &Scenario) -> Permissions {
    let mode = scenario.session.permission_mode.unwrap_or_default();
    Permissions::new(mode, scenario.session.bypass_allowed.unwrap_or(false), scenario.world.permissions.clone())
}

/// Hooks of the session, and the scripts of hooks in definitions.
pub fn hooks(world: &WorldText) -> Hooks {
    let (scripts, own): (Vec<_>, Vec<_>) = world.hooks.iter().cloned().partition(|text| text.of_definition);
    let mut hooks = Hooks::new(own.into_iter().map(|text| text.hook).collect());
    for text in scripts {
        hooks.script(&text.hook.name, text.hook.script);
    }
    hooks
}

/// Files and shell.
pub fn world(world: &WorldText) -> World {
    let rules = world.shell.iter().map(shell_rule).collect();
    World::new(Files::new(world.files.clone()), Shell::new(rules))
}

fn shell_rule(rule: &world::ShellRule) -> ShellRule {
    let write =
        |(path, text): (&String, &String)| Change::Write { path: path.as_str().into(), text: text.as_str().into() };
    ShellRule {
        command: Pattern::new(&rule.command),
        output: rule.output.clone(),
        exit_code: rule.exit_code,
        takes: (!rule.never_ends).then(|| Duration::from_millis(rule.takes_ms)),
        stuck_after: rule.stuck_after_ms.map(Duration::from_millis),
        changes: rule.writes.iter().map(write).collect(),
        times: rule.times,
    }
}

/// The models' answers. Rules with a condition come first, so they are tried before any list; those for every agent
/// come last.
pub fn script(scenario: &Scenario) -> Scripted {
    let of = |conditional: bool, for_all: bool| {
        let replies = |script: &AgentScript| {
            let wanted = script.replies.iter().filter(move |reply| reply.when.is_some() == conditional);
            wanted.map(|reply| rule(script, reply)).collect::<Vec<_>>()
        };
        let scripts = scenario.script.iter().filter(|script| (&*script.agent == EVERY_AGENT) == for_all);
        scripts.flat_map(replies).collect::<Vec<Rule>>()
    };
    Scripted::new([of(true, false), of(false, false), of(true, true), of(false, true)].concat())
}

/// The name of the list for every agent.
const EVERY_AGENT: &str = "*";

fn rule(script: &AgentScript, reply: &Reply) -> Rule {
    let when = reply.when.clone().unwrap_or_default();
    Rule {
        agent: Some(script.agent.clone()).filter(|agent| &**agent != EVERY_AGENT),
        instance: script.instance,
        turn: when.turn,
        after: when.after,
        last_user: when.user_has,
        last_user_is: when.user_is,
        times: Some(reply.times),
        reply: said(reply),
    }
}

fn said(reply: &Reply) -> scripted::Reply {
    let (said, events) = match &reply.content {
        Content::Events(raw) => (Vec::new(), Some(raw.events.clone())),
        Content::Message { think, say, tools } => {
            let think = think.iter().map(|text| Said::Thinking(text.to_string()));
            let say = say.iter().map(|text| Said::Text(text.to_string()));
            let tools = tools.iter().map(|call| Said::ToolUse {
                id: call.id.clone().unwrap_or_default(),
                name: call.tool.clone(),
                input: call.input.clone(),
            });
            (think.chain(say).chain(tools).collect(), None)
        }
    };
    scripted::Reply {
        id: reply.id.clone(),
        said,
        events,
        output_tokens: reply.output_tokens,
        fault: reply.fault.clone(),
        first_byte: reply.first_byte_ms.map(Duration::from_millis),
        streaming: reply.streaming_ms.map(Duration::from_millis),
        block_ends: reply.block_ends_ms.iter().copied().map(Duration::from_millis).collect(),
        unseen: reply.unseen,
        model: reply.model.clone(),
    }
}

/// Scheduling and limits of the run. The executor's own limits are a year and a billion steps. The default here is a
/// million steps, because a scenario that needs more is probably in an endless loop.
pub fn plan(scenario: &Scenario, interleave: Option<u64>) -> Plan {
    const STEPS: u64 = 1_000_000;
    let default = Limits::default();
    let limits = Limits {
        steps: scenario.limits.steps.unwrap_or(STEPS),
        until: scenario.limits.until_ms.map_or(default.until, Instant::from_millis),
    };
    Plan { interleave, limits }
}

/// Speed of the provider.
pub fn pace(said: &PaceText) -> Pace {
    const NANOS_PER_SECOND: u64 = 1_000_000_000;
    let default = Pace::default();
    let micros = |micros: Option<u64>, default: Duration| {
        micros.map_or(default, |micros| Duration(micros.saturating_mul(1_000)))
    };
    Pace {
        base: said.base_ms.map_or(default.base, Duration::from_millis),
        read_per_kilotoken: micros(said.read_us_per_ktok, default.read_per_kilotoken),
        write_per_kilotoken: micros(said.write_us_per_ktok, default.write_per_kilotoken),
        fresh_per_kilotoken: micros(said.fresh_us_per_ktok, default.fresh_per_kilotoken),
        per_output_token: said
            .output_tokens_per_second
            .map_or(default.per_output_token, |rate| Duration(NANOS_PER_SECOND / rate.max(1))),
        refusal: said.refusal_ms.map_or(default.refusal, Duration::from_millis),
    }
}
