//! The same setup is the same run: twice, under another order of ready tasks, and on another executor.

#![allow(clippy::disallowed_methods)] // Tokio's own clock and tasks are the other executor.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::model::scripted::Rule;
use forkcast_sim::seed::Seed;
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::{Does, Finished, Setup, prepare, run};
use forkcast_sim::time::{self, Handle, Instant, Runtime, Turns};
use forkcast_sim::wire::Usage;
use serde_json::json;
use tokio::task::LocalSet;

use crate::model::generated::{Call, Generated, Habits};

use super::stage::{at, calls, finished, furnish, says, setup, spawns, types};

/// A session with everything: foreground and background agents, one moved to the background, a permission request.
fn eventful() -> Setup {
    let for_ever = |agent: &str, text: &str| Rule { times: None, ..says(agent, text) };
    let rules = vec![
        spawns("main", "looker", "look around", true),
        spawns("main", "worker", "do the work", false),
        calls("main", "Read", json!({ "file_path": "/repo/README.md" })),
        for_ever("main", "Noted."),
        calls("looker", "Read", json!({ "file_path": "/repo/src/main.rs" })),
        calls("looker", "Bash", json!({ "command": "cargo check", "description": "Check" })),
        for_ever("looker", "Nothing to see."),
        calls("worker", "Grep", json!({ "pattern": "main", "path": "/repo" })),
        calls("worker", "Read", json!({ "file_path": "/repo/src/main.rs" })),
        for_ever("worker", "Done."),
    ];
    let allow = Does::Answers { allow: true, tool: Some("Bash".into()) };
    let acts =
        vec![types(0, "Look, and work."), at(4_000, Does::Background(None)), at(5_000, allow), types(90_000, "And?")];
    setup(rules, acts)
}

#[test]
fn an_eventful_session_has_everything() {
    let finished = finished(eventful());
    let words = super::stage::words(&finished);
    for word in ["takeover", "permission.request", "permission.reply", "notify.enqueued", "agent.result", "tool.end"] {
        assert!(words.contains_key(word), "{word}: {words:#?}");
    }
    assert!(finished.idle.is_empty(), "{:?}", finished.idle);
}

/// Many agents with made-up answers.
fn crowd(seed: u64) -> Setup {
    let tools = vec![(Call::Read, 6), (Call::Grep, 2), (Call::Spawn, 1), (Call::SpawnBehind, 1)];
    let habits = Habits { rounds: 1..=3, calls: 1..=2, tools, ..Habits::default() };
    let mut setup = Setup::new(seed, Generated::new(&Seed::new(seed), habits));
    setup.acts = vec![types(0, "Do it."), types(5_000, "More."), at(9_000, Does::Background(None))];
    setup.settings.max_depth = Some(2);
    furnish(&mut setup);
    setup
}

fn digests(make: impl Fn() -> Setup) -> (u128, u128) {
    (finished(make()).digest, finished(make()).digest)
}

#[test]
fn the_same_setup_twice_is_the_same_run() {
    let (one, two) = digests(eventful);
    assert_eq!(one, two);
    for seed in 0..5 {
        let (one, two) = digests(|| crowd(seed));
        assert_eq!(one, two, "seed {seed}");
    }
    assert_ne!(finished(crowd(1)).digest, finished(crowd(2)).digest, "a digest distinguishes runs");
}

#[test]
fn a_crowd_keeps_all_laws() {
    let agents: usize = (0..20).map(|seed| finished(crowd(seed)).agents.len()).sum();
    assert!(agents > 60, "{agents} agents are no crowd");
}

/// The part that does not depend on who runs first in an instant: how many requests each type of agent sent, and their
/// tokens.
fn sums(finished: &Finished) -> BTreeMap<Rc<str>, (usize, u64)> {
    let mut sums: BTreeMap<Rc<str>, (usize, u64)> = BTreeMap::new();
    for Entry { line, agent, .. } in &finished.entries {
        let agent = finished.agents.iter().find(|known| Some(&*known.id) == agent.as_deref()).unwrap();
        let sum = sums.entry(agent.agent_type.clone()).or_default();
        sum.0 += 1;
        sum.1 += line.predicted.as_ref().map_or(0, Usage::total_input_tokens);
    }
    sums
}

#[test]
fn another_order_of_ready_tasks_only_changes_the_order_of_events() {
    let plain = finished(eventful());
    let mut words = super::stage::words(&plain);
    words.retain(|word, _| word.starts_with("tool") || word.starts_with("task") || word.starts_with("notify"));
    for seed in 0..10 {
        let mut setup = eventful();
        setup.plan.interleave = Some(seed);
        let other = finished(setup);
        let mut others = super::stage::words(&other);
        others.retain(|word, _| words.contains_key(word));
        assert_eq!((sums(&plain), &words), (sums(&other), &others), "interleave {seed}");
    }
}

/// Tokio's `LocalSet` under our handle.
struct Local(tokio::time::Instant);

impl Runtime for Local {
    fn now(&self) -> Instant {
        Instant(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
    }

    fn sleep_until(&self, at: Instant) -> Turns {
        Box::pin(tokio::time::sleep_until(self.0 + std::time::Duration::from_nanos(at.0)))
    }

    fn spawn(&self, _: &str, task: Turns) {
        tokio::task::spawn_local(task);
    }
}

fn on_tokio(setup: Setup) -> Finished {
    let (play, record) = prepare(setup);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let at = LocalSet::new().block_on(&runtime, async move {
        let handle = Handle::on(Rc::new(Local(tokio::time::Instant::now())));
        handle.spawn("main", play.on(handle.clone())).await.unwrap();
        handle.now()
    });
    record.finish(Ok(time::Finished { value: (), at, steps: 0, timer_events: 0 })).unwrap()
}

#[test]
fn the_same_agents_leave_the_same_log_on_a_paused_tokio() {
    // Tokio's timers have a resolution of a millisecond, so all durations are whole milliseconds.
    let whole = || {
        let mut setup = eventful();
        setup.pace = forkcast_sim::simulation::Pace {
            read_per_kilotoken: time::Duration(0),
            write_per_kilotoken: time::Duration(0),
            fresh_per_kilotoken: time::Duration(0),
            per_output_token: time::Duration::from_millis(15),
            ..setup.pace
        };
        setup
    };
    let (ours, tokio) = (run(whole()).unwrap(), on_tokio(whole()));
    for (ours, tokio) in ours.log.iter().zip(&tokio.log) {
        assert_eq!(ours, tokio);
    }
    assert_eq!((ours.log.len(), ours.digest), (tokio.log.len(), tokio.digest));
    assert!(ours.log.len() > 200, "{} events", ours.log.len());
}
