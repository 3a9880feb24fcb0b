//! Converts a scenario to the setup of a simulation. This cannot fail, because scenarios are checked when they are
//! read.

mod history;
mod sizes;
mod tools;

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Settings;
use forkcast_sim::agent::hook::Hooks;
use forkcast_sim::agent::input::Command;
use forkcast_sim::agent::permission::Permissions;
use forkcast_sim::agent::session::Skills;
use forkcast_sim::agent::world::{Files, Shell, World};
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{self, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Recount, Setup};
use forkcast_sim::time::{Duration, Instant, Limits, Plan};

use crate::format::script::{AgentScript, Content, Reply};
use crate::format::world::WorldText;
use crate::format::{Scenario, user};

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
        pace: scenario.pace,
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

/// Options of the session.
pub fn settings(scenario: &Scenario) -> Settings {
    let prompt = &scenario.prompt;
    Settings {
        variables: scenario.variables.clone(),
        features: scenario.features.clone(),
        without_user_context: prompt.user_context == Some(false),
        system: prompt.system.clone().map(|system| vec![system]),
        fragments: prompt.fragments.clone(),
        sizes: prompt.sizes,
        prefixes: prompt.prefixes.clone(),
        launches: launches(scenario),
        ..scenario.session.settings.clone()
    }
}

/// How long the starts of agents take that say so, by the ids of their calls.
fn launches(scenario: &Scenario) -> BTreeMap<Rc<str>, Duration> {
    let replies = scenario.script.iter().flat_map(|script| &script.replies);
    let calls = replies.flat_map(|reply| match &reply.content {
        Content::Message { tools, .. } => tools.as_slice(),
        Content::Events(_) => &[],
    });
    calls.filter_map(|call| Some((call.id.clone()?, Duration::from_millis(call.launch_ms?)))).collect()
}

/// Rules and modes.
pub fn permissions(scenario: &Scenario) -> Permissions {
    let said = &scenario.session;
    Permissions::new(said.permission_mode, said.bypass_allowed, scenario.world.permissions.clone())
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
    World::new(Files::new(world.files.clone()), Shell::new(world.shell.clone()))
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
