//! Background sub-agents (ASYNC, LIFE).

use std::rc::Rc;

use forkcast_sim::agent::input;
use forkcast_sim::agent::task::State;
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::time::Duration;
use serde_json::json;

use super::clocked::{Played, Stage, call, main_agent, results, says, spawn_behind, text, wait};

/// A child that reads for a second and answers after another one, while its parent continues.
fn looking_round() -> Stage {
    Stage::new()
        .says("main", vec![spawn_behind("explore", "look round"), text("done"), text("well")])
        .says("explore", vec![call("Glob", json!({ "pattern": "*" })).after(1_000), text("nothing").after(1_000)])
}

/// Waits until no background task runs.
pub async fn all_done(session: &Session) {
    loop {
        let changed = session.tasks.changed();
        if session.tasks.running() == 0 {
            return;
        }
        changed.await;
    }
}

fn go(stage: Stage) -> Played<()> {
    stage.play(|session| async move {
        says(&main_agent(&session), "go").await;
        all_done(&session).await;
    })
}

#[test]
fn async_01_a_call_or_a_definition_starts_a_background_agent() {
    let asynchronous = |event: &Event| match event {
        Event::AgentStarted { is_async, .. } => Some(*is_async),
        _ => None,
    };
    assert_eq!(go(looking_round()).find(asynchronous), [true]);
    let defined = Stage::new()
        .agent("watcher", "background: true")
        .says("main", vec![super::clocked::spawn("watcher", "look"), text("done")])
        .says("watcher", vec![text("nothing")]);
    assert_eq!(go(defined).find(asynchronous), [true]);
}

#[test]
fn async_03_async_04_the_call_returns_at_once_with_id_and_file() {
    let played = go(looking_round());
    let child = played.agents()[0].clone();
    assert_eq!(played.at(|event| matches!(event, Event::AgentResult { status: "async_launched", .. })), 0);
    let ended = played.at(|event| matches!(event, Event::QueryEnded { agent, .. } if &**agent == "main"));
    assert_eq!(ended, 0, "the parent has ended its turn before the child said a word");
    let registered = played.place(|event| matches!(event, Event::TaskState { state: "running", background: true, .. }));
    let returned = played.place(|event| matches!(event, Event::AgentResult { .. }));
    let started = played.place(|event| matches!(event, Event::AgentStarted { .. }));
    assert!(registered < returned && returned < started);
    let result = played.results()[0]["content"].as_str().unwrap().to_owned();
    let file = played.session.tasks.get(&child).unwrap().output_file.clone();
    assert!(result.contains(&*child) && result.contains(&*file), "{result}");
}

#[test]
fn async_05_async_06_async_09_progress_then_state_then_slow_work_then_the_notification() {
    let slow = looking_round().set(|settings| settings.classifier = Duration::from_millis(5_000));
    let played = go(slow);
    let child = played.agents()[0].clone();
    let order = played.find(|event| match event {
        Event::TaskState { state, .. } => Some((*state).to_owned()),
        Event::Sdk { kind, .. } => Some(format!("sdk {kind}")),
        Event::FollowUp { work, step, .. } => Some(format!("{work} {step}")),
        Event::Notified { status, .. } => Some(format!("notified {status}")),
        Event::Enqueued { mode, .. } => Some((*mode).to_owned()),
        Event::Cleanup { agent, step } if *agent == child => Some((*step).to_owned()),
        _ => None,
    });
    let expected = [
        "running",
        "completed",
        "sdk completed",
        "classifier start",
        "classifier end",
        "notified completed",
        "task-notification",
        "remove_hooks",
        "clear_invoked_skills",
        "clear_dump_state",
        "clear_read_files",
    ];
    assert_eq!(order, expected);
    assert_eq!(played.at(|event| matches!(event, Event::TaskState { state: "completed", .. })), 2_000);
    assert_eq!(played.at(|event| matches!(event, Event::Notified { .. })), 7_000);
    let progress = played.session.tasks.get(&child).unwrap().progress.get();
    assert_eq!((progress.messages, progress.tool_uses, progress.usage.output_tokens), (3, 1, 20));
}

#[test]
fn async_10_waiting_for_the_state_does_not_include_slow_work() {
    let slow = looking_round().set(|settings| settings.classifier = Duration::from_millis(5_000));
    let played = slow.play(|session| async move {
        says(&main_agent(&session), "go").await;
        let child = session.tasks.all()[0].id.clone();
        let state = session.tasks.ended(&child).await;
        let at = session.now();
        let unknown = session.tasks.ended("nobody").await;
        (state, at.0 / 1_000_000, unknown)
    });
    assert_eq!(played.value, (Some(State::Completed), 2_000, None));
}

#[test]
fn async_11_escape_stops_the_main_turn_but_no_background_agent() {
    let mut stage = looking_round();
    stage = stage.says("main", vec![spawn_behind("explore", "look round"), text("done").after(10_000)]);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let (turn, abort) = (main.clone(), main.abort.clone());
        let turn = session.handle.spawn("main", async move { says(&turn, "go").await.reason.name() });
        wait(&session, 500).await;
        abort.give();
        let reason = turn.await.unwrap();
        all_done(&session).await;
        reason
    });
    assert_eq!(played.value, "aborted");
    let told = played.notifications();
    assert!(told[0].contains("<status>completed</status>") && told[0].contains("<result>nothing</result>"), "{told:?}");
}

#[test]
fn async_11_escape_stops_the_children_that_the_main_turn_waits_for() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![super::clocked::spawn("outer", "go on"), text("done")])
        .says("outer", vec![super::clocked::spawn("explore", "look"), text("outer is done")])
        .says("explore", vec![text("inner is done").after(60_000)]);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let (turn, abort) = (main.clone(), main.abort.clone());
        let turn = session.handle.spawn("main", async move { says(&turn, "go").await.reason.name() });
        wait(&session, 500).await;
        abort.give();
        (turn.await.unwrap(), session.now().0 / 1_000_000)
    });
    assert_eq!(played.value, ("aborted", 500));
    let ends = played.states().into_iter().filter(|(_, state, _)| *state != "running");
    assert_eq!(ends.map(|(_, state, _)| state).collect::<Vec<_>>(), ["killed", "killed"]);
    assert!(played.session.tasks.in_foreground().is_empty());
}

#[test]
fn async_15_a_lifecycle_that_fails_ends_as_a_notification() {
    let stage = looking_round().says("explore", vec![super::clocked::refused(400)]);
    let played = go(stage);
    assert_eq!(played.count(|event| matches!(event, Event::Notified { status: "failed", .. })), 1);
    let reasons = played.find(|event| match event {
        Event::QueryEnded { agent, reason, .. } if &**agent == "main" => Some(*reason),
        _ => None,
    });
    assert_eq!(reasons, ["completed"]);
}

#[test]
fn life_02_life_09_a_state_is_final() {
    let played = go(looking_round());
    let task = played.session.tasks.all()[0].clone();
    for other in [State::Failed, State::Killed, State::Completed, State::Running] {
        assert!(!played.session.tasks.end(&task, other));
        assert_eq!(task.state(), State::Completed);
    }
    let child = played.agents()[0].clone();
    assert_eq!(played.states(), [(child.clone(), "running", true), (child, "completed", true)]);
}

#[test]
fn life_03_the_same_agent_runs_in_foreground_and_background() {
    let behind = go(looking_round());
    let front = looking_round().says("main", vec![super::clocked::spawn("explore", "look round"), text("done")]);
    let front = go(front);
    let asked = |played: &Played<()>| -> Vec<String> {
        let of_child = played.asked_by("explore");
        let body = |question: &&forkcast_sim::model::Question| {
            let pieces = question.draft.messages.iter().flat_map(|message| &message.content);
            pieces.map(|piece| piece.json()).collect::<Vec<_>>().join("\n")
        };
        of_child.iter().map(body).collect()
    };
    assert_eq!(asked(&behind), asked(&front), "the same conversation");
}

#[test]
fn life_04_life_05_the_parent_answers_its_user_while_a_background_agent_runs() {
    let played = looking_round().play(|session| async move {
        let main = main_agent(&session);
        says(&main, "go").await;
        wait(&session, 500).await;
        says(&main, "are you there?").await;
        all_done(&session).await;
    });
    let answered = played.at(|event| matches!(event, Event::Usage { agent, turn: 2, .. } if &**agent == "main"));
    let ended = played.at(|event| matches!(event, Event::TaskState { state: "completed", .. }));
    assert_eq!((answered, ended), (500, 2_000));
}

#[test]
fn life_06_life_07_notify_12_the_result_is_a_new_item_and_changes_no_earlier_one() {
    let played = looking_round().play(|session| async move {
        let main = main_agent(&session);
        says(&main, "go").await;
        all_done(&session).await;
        input::headless(main).await;
    });
    let questions = played.asked_by("main");
    assert_eq!(questions.len(), 3);
    assert_eq!(results(questions[1]), results(questions[2]), "the result of the call stays the launch");
    let last = questions[2].last_user_text().unwrap();
    assert!(last.contains("<task-notification>") && last.contains("nothing"), "{last}");
    let channels = played.find(|event| match event {
        Event::AgentResult { status, .. } => Some(*status),
        Event::Enqueued { mode, .. } => Some(*mode),
        _ => None,
    });
    assert_eq!(channels, ["async_launched", "task-notification"]);
}

#[test]
fn life_08_agent_32_only_the_prompt_goes_down_and_only_the_report_comes_up() {
    let played = looking_round().play(|session| async move {
        let main = main_agent(&session);
        says(&main, "a secret of the parent").await;
        all_done(&session).await;
    });
    let down: String = played.asked_by("explore")[1].draft.messages.iter().flat_map(|m| &m.content).fold(
        String::new(),
        |mut all, piece| {
            all.push_str(piece.json());
            all
        },
    );
    assert!(down.contains("look round") && !down.contains("a secret of the parent"));
    assert!(played.notifications()[0].contains("<result>nothing</result>"));
}

#[test]
fn async_04_life_05_a_sub_agent_continues_too_and_reads_the_notification_itself() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![super::clocked::spawn("outer", "go on"), text("done")])
        .says(
            "outer",
            vec![
                spawn_behind("explore", "look"),
                call("Bash", json!({ "command": "make", "description": "build" })),
                text("outer is done"),
            ],
        )
        .says("explore", vec![text("inner is done").after(1_000)])
        .command("make", "built", 5_000);
    let played = go(stage);
    let last = played.asked_by("outer")[2].last_user_text().unwrap();
    assert!(last.contains("<result>inner is done</result>"), "{last}");
    let owner = played.find(|event| match event {
        Event::Enqueued { agent, mode: "task-notification", .. } => Some(agent.clone()),
        _ => None,
    });
    assert_eq!(owner, [Some(played.agents()[0].clone())]);
}

#[test]
fn notify_09_unread_notifications_of_an_ended_sub_agent_go_to_the_main_thread() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![super::clocked::spawn("outer", "go on"), text("done")])
        .says("outer", vec![spawn_behind("explore", "look"), text("outer is done").after(5_000)])
        .says("explore", vec![text("inner is done").after(1_000)]);
    let told = go(stage).notifications();
    assert!(told.len() == 1 && told[0].contains("inner is done"), "{told:?}");
    // A notification that arrives after its owner has ended belongs to the main thread from the start.
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![super::clocked::spawn("outer", "go on"), text("done")])
        .says("outer", vec![spawn_behind("explore", "look"), text("outer is done")])
        .says("explore", vec![text("inner is done").after(1_000)]);
    let played = go(stage);
    let owner = played.find(|event| match event {
        Event::Enqueued { agent, .. } => Some(agent.clone()),
        _ => None,
    });
    assert_eq!(owner, [None]);
}

#[test]
fn async_03_a_headless_session_waits_for_the_notification_too() {
    let slow = looking_round().set(|settings| {
        settings.classifier = Duration::from_millis(5_000);
        settings.interactive = false;
    });
    let played = slow.play(|session: Rc<Session>| async move {
        let main = main_agent(&session);
        session.front.type_line(&session, "go");
        input::headless(main).await;
        session.now().0 / 1_000_000
    });
    assert_eq!(played.value, 7_000, "the end of the task alone would have been 2,000");
    assert_eq!(played.asked_by("main").len(), 3);
}
