//! Every way in which an agent fails or is stopped, in foreground and background (E11: SYNC-15..17, ASYNC-07, ASYNC-08,
//! ASYNC-12).

use std::rc::Rc;

use forkcast_sim::agent::task::NotKilled;
use forkcast_sim::agent::{Event, Session};
use serde_json::json;

use super::background::all_done;
use super::clocked::{Played, Reply, Stage, call, calls, main_agent, refused, says, spawn, spawn_behind, text, wait};

/// The main agent calls `first`; the child gives these answers.
fn child(first: Reply, replies: Vec<Reply>) -> Stage {
    Stage::new()
        .says("main", vec![first, text("done")])
        .says("general-purpose", replies)
        .command("make", "built", 60_000)
}

/// Plays the stage, acts after `ms`, and waits for everything.
fn played(stage: Stage, ms: u64, act: impl Fn(&Session) + 'static) -> Played<&'static str> {
    stage.play(move |session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { says(&main, "go").await.reason.name() });
        wait(&session, ms).await;
        act(&session);
        let reason = turn.await.unwrap();
        all_done(&session).await;
        reason
    })
}

fn make() -> Reply {
    call("Bash", json!({ "command": "make", "description": "build" })).saying("I build it").after(1_000)
}

/// Cleanup of the only child, which ended as `word` says.
fn is_tidy(played: &Played<&'static str>, word: &'static str) {
    let agents = played.agents();
    let expected = [
        "background_hint",
        "foreground_summarization",
        "unregister_foreground",
        word,
        "remove_hooks",
        "clear_invoked_skills",
        "clear_dump_state",
        "clear_read_files",
    ];
    assert_eq!(played.cleaned(&agents[0]), expected);
    assert!(played.session.tasks.in_foreground().is_empty());
}

fn nothing(_: &Session) {}

#[test]
fn sync_15_a_child_that_is_stopped_interrupts_the_call() {
    let stop = |session: &Session| {
        let child = session.tasks.in_foreground()[0].id.clone();
        session.tasks.kill(&child).unwrap();
    };
    let played = played(child(spawn("general-purpose", "work"), vec![make(), text("never")]), 30_000, stop);
    assert_eq!(played.value, "completed", "the main turn was not stopped and continues");
    let outcome = played.find(|event| match event {
        Event::ToolEnd { agent, outcome, .. } if &**agent == "main" => Some(*outcome),
        _ => None,
    });
    assert_eq!(outcome, ["interrupted"]);
    assert_eq!(played.results()[0]["is_error"], true);
    assert_eq!(played.count(|event| matches!(event, Event::AgentResult { .. })), 0, "no partial result");
    assert_eq!(played.states().last().unwrap().1, "killed");
    is_tidy(&played, "stopped");
}

#[test]
fn sync_15_escape_in_the_main_turn_ends_the_child_and_the_turn() {
    let stage = child(spawn("general-purpose", "work"), vec![make(), text("never")]);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let abort = main.abort.clone();
        let turn = session.handle.spawn("main", async move { says(&main, "go").await.reason.name() });
        wait(&session, 30_000).await;
        abort.give();
        turn.await.unwrap()
    });
    assert_eq!(played.value, "aborted");
    assert_eq!(played.asked_by("main").len(), 1);
    is_tidy(&played, "stopped");
}

#[test]
fn sync_16_an_error_after_some_output_gives_the_partial_result() {
    let glob = call("Glob", json!({ "pattern": "*" })).saying("as far as I got").after(1_000);
    let played = played(child(spawn("general-purpose", "work"), vec![glob, refused(400)]), 0, nothing);
    let result = &played.results()[0];
    assert!(result["content"].as_str().unwrap().starts_with("as far as I got"), "{result}");
    assert!(result["is_error"].is_null());
    let why = played.find(|event| match event {
        Event::AgentFailed { why, .. } => Some(why.to_string()),
        _ => None,
    });
    assert!(why.len() == 1 && why[0].contains("400"), "it is logged: {why:?}");
    assert_eq!(played.states().last().unwrap().1, "failed");
    is_tidy(&played, "failed");
}

#[test]
fn sync_17_an_error_without_output_is_the_calls_error() {
    let played = played(child(spawn("general-purpose", "work"), vec![refused(400)]), 0, nothing);
    let result = &played.results()[0];
    assert_eq!(result["is_error"], true);
    assert!(result["content"].as_str().unwrap().contains("400"), "{result}");
    assert_eq!(played.value, "completed", "no error of the child ends the main turn");
    is_tidy(&played, "failed");
}

#[test]
fn async_08_notify_07_a_background_error_is_reported_with_its_message() {
    let glob = call("Glob", json!({ "pattern": "*" })).saying("as far as I got").after(1_000);
    let played = played(child(spawn_behind("general-purpose", "work"), vec![glob, refused(400)]), 0, nothing);
    let told = played.notifications();
    assert!(told[0].contains("<status>failed</status>"), "{told:?}");
    let summary = told[0].split("<summary>").nth(1).unwrap().split("</summary>").next().unwrap();
    assert!(summary.contains("HTTP 400"), "{summary}");
    assert!(told[0].contains("<result>as far as I got</result>"));
    assert_eq!(played.states().last().unwrap(), &(played.agents()[0].clone(), "failed", true));
}

#[test]
fn async_07_async_12_notify_05_a_killed_agent_reports_its_partial_text() {
    let kill = |session: &Session| {
        let child = session.tasks.all()[0].id.clone();
        session.tasks.kill(&child).unwrap();
    };
    let played = played(child(spawn_behind("general-purpose", "work"), vec![make(), text("never")]), 30_000, kill);
    let told = played.notifications();
    assert!(told[0].contains("<status>killed</status>") && told[0].contains("<result>I build it</result>"), "{told:?}");
    assert!(told[0].contains("<duration_ms>30000</duration_ms>"), "in the middle of its tool: {told:?}");
    assert_eq!(played.value, "completed");
    let sdk = played.cleaned(&played.agents()[0]);
    assert_eq!(sdk[0], "stopped");
}

#[test]
fn async_12_only_running_tasks_can_be_killed() {
    let played = played(child(spawn_behind("general-purpose", "work"), vec![text("done")]), 10, nothing);
    let child = played.agents()[0].clone();
    let tasks = &played.session.tasks;
    assert_eq!(tasks.kill("nobody"), Err(NotKilled::Unknown("nobody".into())));
    assert_eq!(tasks.kill(&child), Err(NotKilled::Ended { task: child.clone(), state: "completed" }));
    assert_eq!(tasks.kill_all(), 0);
    assert_eq!(played.notifications().len(), 1);
}

#[test]
fn async_12_a_bulk_kill_ends_all_background_tasks_and_no_foreground_task() {
    let behind =
        json!({ "description": "d", "prompt": "work", "subagent_type": "general-purpose", "run_in_background": true });
    let front = json!({ "description": "d", "prompt": "look", "subagent_type": "explore" });
    let first = calls(vec![("Agent", behind.clone()), ("Agent", behind), ("Agent", front)]);
    let stage = child(first, vec![make(), text("never")]).says("explore", vec![text("seen").after(40_000)]);
    let killed = Rc::new(std::cell::Cell::new(0));
    let count = killed.clone();
    let played = played(stage, 30_000, move |session| count.set(session.tasks.kill_all()));
    assert_eq!(killed.get(), 2);
    let told = played.notifications();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|told| told.contains("<status>killed</status>")));
    assert!(played.results().iter().any(|result| result["content"] == "seen"));
}

#[test]
fn async_12_a_kill_during_slow_work_comes_too_late() {
    let stage = child(spawn_behind("general-purpose", "work"), vec![text("done")])
        .set(|settings| settings.classifier = forkcast_sim::time::Duration::from_millis(5_000));
    let played = played(stage, 1_000, |session| assert_eq!(session.tasks.kill_all(), 0));
    assert!(played.notifications()[0].contains("<status>completed</status>"));
}

#[test]
fn sync_16_the_limit_of_turns_is_a_normal_end() {
    let glob = || call("Glob", json!({ "pattern": "*" })).saying("still looking").after(1_000);
    let stage = Stage::new()
        .agent("bounded", "maxTurns: 2")
        .says("main", vec![spawn("bounded", "work"), text("done")])
        .says("bounded", vec![glob(), glob(), glob()]);
    let played = played(stage, 0, nothing);
    assert!(played.results()[0]["content"].as_str().unwrap().starts_with("still looking"));
    assert_eq!(played.asked_by("bounded").len(), 2);
    is_tidy(&played, "completed");
}

#[test]
fn async_11_killing_an_agent_stops_only_the_child_that_it_waits_for() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![spawn_behind("outer", "go on"), text("done")])
        .says("outer", vec![spawn_behind("explore", "look"), spawn("plan", "plan"), text("never")])
        .says("explore", vec![text("seen").after(60_000)])
        .says("plan", vec![text("planned").after(60_000)]);
    let played = played(stage, 30_000, |session| {
        let outer = session.tasks.all().into_iter().find(|task| task.owner.is_none()).unwrap();
        session.tasks.kill(&outer.id).unwrap();
    });
    let mut ends: Vec<_> = played.states().into_iter().filter(|(_, state, _)| *state != "running").collect();
    ends.sort_by_key(|(_, state, background)| (*state, *background));
    let ends: Vec<_> = ends.into_iter().map(|(_, state, background)| (state, background)).collect();
    assert_eq!(ends, [("completed", true), ("killed", false), ("killed", true)]);
    assert_eq!(played.notifications().len(), 2);
}
