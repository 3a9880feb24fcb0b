//! What the user did, as acts of a scenario.

use forkcast_sim::time::{Duration, Instant};

use super::acts::{Act, Does};
use super::node::{self, Fields, number, text, yes};
use super::scene::{Part, Scene};
use super::thread;
use super::wording::Veil;
use crate::format::tree::Node;

/// After the last recorded instant everything that still runs is stopped: repeatedly, because a simulation may be late.
const AFTER_THE_END: [Duration; 4] =
    [Duration::from_secs(60), Duration::from_secs(900), Duration::from_secs(14_400), Duration::from_secs(172_800)];

/// Those of a simulation that may take another time than the recording.
const LONG_AFTER_THE_END: usize = 2;

/// What the user did, and what stops everything that still runs after the end.
pub(super) fn acts(scene: &mut Scene<'_>) -> Option<Node> {
    let mut recorded = std::mem::take(&mut scene.acts.acts);
    recorded.sort_by_key(|act| act.at);
    let mut acts: Vec<(u64, Node)> = Vec::new();
    let mut done_at = None;
    for act in &recorded {
        let at_ms = scene.ms(act.at);
        acts.extend(waits(scene, act, done_at).map(|waits| (at_ms, waits)));
        acts.push((at_ms, node(&mut scene.veil, act, at_ms)));
        done_at = Some(act.at);
    }
    acts.extend(ends(scene));
    acts.sort_by_key(|(at_ms, _)| *at_ms);
    node::some(acts.into_iter().map(|(_, node)| node).collect())
}

/// Before a line that begins a turn the user waits as long after the answers as recorded, if answers may come at other
/// instants. `done_at`: what the user did last.
fn waits(scene: &Scene<'_>, act: &Act, done_at: Option<Instant>) -> Option<Node> {
    let begins_turn = matches!(act.does, Does::Types { begins_turn: true, .. });
    if !scene.otherwise.is_compared || !begins_turn {
        return None;
    }
    let main = scene.parts.iter().find(|part| part.name == "main")?;
    let ends = main.agent.thread.items.iter().filter_map(|item| item.answer()?.ended_at);
    let answered_at = ends.filter(|ended| *ended <= act.at).max();
    let idle_since = answered_at.max(done_at)?;
    // Agents that ran in the background while the user typed.
    let is_running = scene.spawns.of_call.values().any(|spawn| {
        let was_called = spawn.called_at.is_some_and(|called| called <= act.at);
        let has_ended = spawn.notified_at.or(spawn.result_at).is_some_and(|ended| ended <= act.at);
        was_called && !has_ended
    });
    let waits = Fields::default()
        .with("for", text(if is_running { "main" } else { "agents" }))
        .with("ms", number(act.at.since(idle_since).as_millis()));
    Some(Fields::default().with("at_ms", number(scene.ms(act.at))).with("waits", waits.node()).node())
}

fn node(veil: &mut Veil, act: &Act, at_ms: u64) -> Node {
    let at = Fields::default().with("at_ms", number(at_ms));
    let node = match &act.does {
        Does::Types { text: typed, tokens, .. } => {
            at.with("tokens", number(*tokens)).with("types", text(veil.text("line", typed)))
        }
        Does::Arrives { text: notice, tokens } => {
            let item = Fields::default()
                .with("text", text(veil.text("notification", notice)))
                .with("mode", text("task-notification"))
                .with("priority", text("later"))
                .with("source", text("shell"));
            at.with("tokens", number(*tokens)).with("arrives", item.node())
        }
        Does::Compacts { text: summary, tokens, takes } => {
            let rewrites = Fields::default()
                .with("agent", text("main"))
                .with("as", text(veil.text("summary", summary)))
                .with("takes_ms", takes.map(|takes| number(takes.as_millis())));
            at.with("tokens", number(*tokens)).with("rewrites", rewrites.node())
        }
        Does::Rewinds { text: line } => at.with("rewinds", text(veil.text("line", line))),
        Does::Escape => at.with("escape", yes(true)),
    };
    node.node()
}

/// What stops everything that still runs after the end.
fn ends(scene: &Scene<'_>) -> Vec<(u64, Node)> {
    let waits = |part: &Part<'_>| part.steps.steps.iter().any(|step| step.does == thread::Does::Waits);
    let is_open = scene.parts.iter().any(|part| part.steps.ends_open || waits(part));
    let runs_on = scene.spawns.of_call.values().any(|spawn| spawn.background && !spawn.notified);
    let stops = &AFTER_THE_END[if scene.otherwise.is_compared { LONG_AFTER_THE_END } else { 0 }..];
    let mut acts = Vec::new();
    for after in stops {
        let at_ms = scene.ms(scene.ended + *after);
        let at = || Fields::default().with("at_ms", number(at_ms));
        acts.extend(is_open.then(|| (at_ms, at().with("escape", yes(true)).node())));
    }
    let at_ms = scene.ms(scene.ended + stops[0]);
    let kills = || Fields::default().with("at_ms", number(at_ms)).with("kill_all", yes(true)).node();
    acts.extend(runs_on.then(|| (at_ms, kills())));
    acts
}
