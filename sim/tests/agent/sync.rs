//! Synchronous sub-agents (SYNC); the switch is tested in `takeover`, errors in `matrix`.

use std::rc::Rc;

use forkcast_sim::agent::task::State;
use forkcast_sim::agent::tool::{Agent, Call, Definition, Effect, Outcome, Running, Tool, ToolError, Tools};
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::clocked::{Played, Stage, background_all, call, main_agent, says, spawn, text, wait};

/// A child that reads for a second and answers after another one.
fn looking_round() -> Stage {
    Stage::new()
        .says("main", vec![spawn("explore", "look round"), text("done")])
        .says("explore", vec![call("Glob", json!({ "pattern": "*" })).after(1_000), text("nothing").after(1_000)])
}

fn go(stage: Stage) -> Played<()> {
    stage.play(|session| async move { drop(says(&main_agent(&session), "go").await) })
}

/// Plays `stage` while `act` runs concurrently with the turn.
fn beside<F: Future<Output = ()> + 'static>(stage: Stage, act: impl FnOnce(Rc<Session>) -> F + 'static) -> Played<()> {
    stage.play(|session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { drop(says(&main, "go").await) });
        act(session.clone()).await;
        turn.await.unwrap();
    })
}

#[test]
fn sync_01_sync_02_the_parents_turn_waits_until_the_child_has_ended() {
    let played = go(looking_round());
    let sent = |turn| {
        played
            .at(|event| matches!(event, Event::RequestSent { agent, turn: t, .. } if &**agent == "main" && *t == turn))
    };
    assert_eq!((sent(0), sent(1)), (0, 2_000));
    let route = played.find(|event| match event {
        Event::Routed { background, .. } => Some(*background),
        _ => None,
    });
    assert_eq!(route, [false]);
}

#[test]
fn sync_04_sync_05_agent_32_the_result_belongs_to_the_call_and_bypasses_the_queue() {
    let played = go(looking_round());
    let results = played.results();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["tool_use_id"], "main-0-1");
    assert!(results[0]["content"].as_str().unwrap().starts_with("nothing"));
    let status = played.find(|event| match event {
        Event::AgentResult { status, tool_use, .. } => Some((*status, tool_use.to_string())),
        _ => None,
    });
    assert_eq!(status, [("completed", "main-0-1".to_owned())]);
    assert_eq!(played.count(|event| matches!(event, Event::Enqueued { .. } | Event::Notified { .. })), 0);
}

#[test]
fn sync_03_every_message_is_collected_and_shown() {
    let played = go(looking_round());
    let child = &played.agents()[0];
    let shown = |word: &str| {
        played.count(|event| match event {
            Event::Sdk { agent, kind } | Event::Ui { agent, kind } => agent == child && *kind == word,
            _ => false,
        })
    };
    assert_eq!(shown("progress"), 2 * 3, "two messages and a result, for the user and for a surrounding program");
    assert_eq!(shown("background_hint"), 1);
    let progress = played.session.tasks.get(child).unwrap().progress.get();
    assert_eq!((progress.messages, progress.tool_uses), (3, 1));
}

#[test]
fn sync_06_a_running_child_is_registered_in_the_foreground() {
    let played = beside(looking_round(), |session| async move {
        wait(&session, 500).await;
        let waiting = session.tasks.in_foreground();
        assert_eq!(waiting.len(), 1);
        assert!(!waiting[0].is_background());
        assert_eq!(waiting[0].state(), State::Running);
        assert_eq!(session.tasks.running(), 0, "nothing that a headless session would wait for");
    });
    let child = played.agents()[0].clone();
    assert_eq!(played.states(), [(child.clone(), "running", false), (child, "completed", false)]);
    assert_eq!(played.session.tasks.in_foreground().len(), 0);
}

#[test]
fn sync_07_each_step_races_the_next_message_against_the_signal() {
    let winners = |played: &Played<()>| {
        played.find(|event| match event {
            Event::Race { winner, .. } => Some(*winner),
            _ => None,
        })
    };
    assert_eq!(winners(&go(looking_round())), ["message"; 4], "three messages and the end");
    let early = beside(looking_round(), |session| async move {
        wait(&session, 1_500).await;
        assert_eq!(background_all(&session), 1);
    });
    assert_eq!(winners(&early), ["message", "message", "signal"]);
    assert_eq!(early.at(|event| matches!(event, Event::Takeover { .. })), 1_500);
}

#[test]
fn sync_07_a_message_in_the_same_instant_comes_first() {
    let played = beside(looking_round(), |session| async move {
        // This timer was set before any of the child's, so it fires before them.
        wait(&session, 2_000).await;
        assert_eq!(background_all(&session), 1);
    });
    assert_eq!(played.count(|event| matches!(event, Event::Takeover { .. })), 0);
    assert!(played.results()[0]["content"].as_str().unwrap().starts_with("nothing"));
}

#[test]
fn sync_07_a_message_of_a_nested_child_comes_first_too() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![spawn("outer", "go on"), text("done")])
        .says("outer", vec![spawn("explore", "look round"), text("outer is done")])
        .says("explore", vec![text("inner is done").after(120_000)])
        .set(|settings| {
            settings.variables.insert("CLAUDE_AUTO_BACKGROUND_TASKS".into(), "1".into());
        });
    let played = go(stage);
    assert_eq!(played.count(|event| matches!(event, Event::Takeover { .. })), 0);
    assert!(played.results()[0]["content"].as_str().unwrap().starts_with("outer is done"));
}

/// Answers when a task of its own has waited for so many milliseconds.
struct Bell(u64);

impl Tool for Bell {
    fn name(&self) -> &str {
        "Bell"
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition { description: "Rings.".to_owned(), input_schema: json!({ "type": "object" }) }
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Read
    }

    fn call(&self, call: Call) -> Running<'_> {
        let handle = call.context.session.handle.clone();
        let waiting = handle.sleep(Duration::from_millis(self.0));
        let rings = handle.spawn("bell", waiting);
        Box::pin(async move { rings.await.map(|()| Outcome::done("It rang.")).map_err(|_| ToolError::Aborted) })
    }
}

#[test]
fn sync_07_a_message_that_another_task_causes_in_the_same_instant_comes_first() {
    let mut stage = Stage::new()
        .says("main", vec![spawn("outer", "wait for the bell"), text("done")])
        .says("outer", vec![call("Bell", json!({})), text("it rang").after(1_000)])
        .agent("outer", "")
        .set(|settings| {
            settings.variables.insert("CLAUDE_AUTO_BACKGROUND_TASKS".into(), "1".into());
        });
    stage.tools = Tools::new(vec![Rc::new(Agent), Rc::new(Bell(120_000))]);
    let winners = go(stage).find(|event| match event {
        Event::Race { winner, .. } => Some(*winner),
        _ => None,
    });
    assert_eq!(winners, ["message", "message", "signal"], "the call, its result at 120 s, then the timer of 120 s");
}

#[test]
fn sync_12_the_user_moves_one_child_to_the_background() {
    let played = beside(looking_round(), |session| async move {
        wait(&session, 100).await;
        let child = session.tasks.in_foreground()[0].id.clone();
        assert!(!session.tasks.background("unknown"));
        assert!(session.tasks.background(&child));
        assert!(!session.tasks.background(&child), "once is enough");
    });
    let by = played.find(|event| match event {
        Event::Takeover { signal, .. } => Some(*signal),
        _ => None,
    });
    assert_eq!(by, ["user"]);
}

/// A child that takes 300 s, with this variable and this flag.
fn slow(variable: Option<&str>, flag: bool) -> Played<()> {
    let mut stage = Stage::new()
        .says("main", vec![spawn("explore", "look round"), text("done")])
        .says("explore", vec![text("nothing").after(300_000)]);
    if let Some(value) = variable {
        stage.settings.variables.insert("CLAUDE_AUTO_BACKGROUND_TASKS".into(), value.into());
    }
    if flag {
        stage.flags.insert("tengu_auto_background_agents".into(), true);
    }
    go(stage)
}

#[test]
fn sync_13_after_two_minutes_a_child_moves_to_the_background_automatically() {
    for played in [slow(Some("1"), false), slow(None, true), slow(Some("true"), true)] {
        let is = |event: &Event| matches!(event, Event::Takeover { signal: "timer", .. });
        assert_eq!((played.count(is), played.at(is)), (1, 120_000));
        assert_eq!(played.at(|event| matches!(event, Event::QueryEnded { .. })), 120_000, "the parent continues");
    }
}

#[test]
fn sync_14_without_variable_and_flag_it_never_does() {
    for played in [slow(None, false), slow(Some("0"), false), slow(Some(""), false)] {
        assert_eq!(played.count(|event| matches!(event, Event::Takeover { .. })), 0);
        assert_eq!(played.at(|event| matches!(event, Event::AgentResult { .. })), 300_000);
    }
    let mut off = Stage::new()
        .says("main", vec![spawn("explore", "look round"), text("done")])
        .says("explore", vec![text("nothing").after(300_000)]);
    off.flags.insert("tengu_auto_background_agents".into(), true);
    off.settings.variables.insert("DISABLE_BACKGROUND_TASKS".into(), "1".into());
    let played = beside(off, |session| async move {
        wait(&session, 1_000).await;
        background_all(&session);
    });
    assert_eq!(
        played.count(|event| matches!(event, Event::Takeover { .. })),
        0,
        "switching off takes precedence over everything (G03)"
    );
}

#[test]
fn sync_18_sync_19_sync_20_sync_21_sync_22_a_child_leaves_no_state() {
    let played = go(looking_round());
    let child = &played.agents()[0];
    let steps = [
        "background_hint",
        "foreground_summarization",
        "unregister_foreground",
        "completed",
        "remove_hooks",
        "clear_invoked_skills",
        "clear_dump_state",
        "clear_read_files",
    ];
    assert_eq!(played.cleaned(child), steps);
    assert!(played.session.tasks.in_foreground().is_empty());
}

#[test]
fn sync_20_a_child_that_moved_to_the_background_stays_registered() {
    let played = beside(looking_round(), |session| async move {
        wait(&session, 1_500).await;
        background_all(&session);
    });
    let child = &played.agents()[0];
    let steps = played.cleaned(child);
    assert_eq!(steps[..2], ["background_hint", "foreground_summarization"]);
    assert!(!steps.contains(&"unregister_foreground") && !steps.contains(&"completed"), "{steps:?}");
    assert!(played.session.tasks.in_foreground().is_empty(), "no foreground call waits for it");
    assert!(played.session.tasks.is_running(child));
}

#[test]
fn sync_24_a_result_is_never_written_again() {
    let stage = Stage::new()
        .says("main", vec![spawn("explore", "look round"), text("done"), text("well")])
        .says("explore", vec![text("nothing").after(500_000)])
        .set(|settings| {
            settings.variables.insert("CLAUDE_AUTO_BACKGROUND_TASKS".into(), "1".into());
        });
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        says(&main, "go").await;
        wait(&session, 501_000).await;
        says(&main, "and now?").await;
    });
    assert_eq!(played.count(|event| matches!(event, Event::Notified { .. })), 1);
    let questions = played.asked_by("main");
    let result = |turn: usize| super::clocked::results(questions[turn])[0].clone();
    assert!(result(1)["content"].as_str().unwrap().contains("agentId"));
    assert_eq!(result(1), result(2));
}
