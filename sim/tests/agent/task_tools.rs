//! Reading and stopping background tasks (TASK).

use std::rc::Rc;

use forkcast_sim::agent::session::Context;
use forkcast_sim::agent::tool::{Outcome, ToolError};
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::background::all_done;
use super::clocked::{Played, Stage, call, main_agent, says, spawn_behind, text, use_tool, wait};

/// A background child that speaks after a second and ends after another, with slow work of five seconds after that.
fn working() -> Stage {
    Stage::new()
        .with_task_tools()
        .set(|settings| settings.classifier = Duration::from_secs(5))
        .says("main", vec![spawn_behind("explore", "look round"), text("done")])
        .says(
            "explore",
            vec![call("Glob", json!({ "pattern": "*" })).after(1_000).saying("I look."), text("nothing").after(1_000)],
        )
        .command("make", "built", 3_000)
}

/// The text that the model sees, errors marked.
async fn said(context: &Rc<Context>, name: &str, input: Value) -> String {
    match use_tool(context, name, input).await {
        Ok(Outcome { content, is_error: false }) => content.to_string(),
        Ok(Outcome { content, is_error: true }) => format!("error: {content}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Starts the child and returns the main agent and the child's id.
async fn started(session: &Rc<Session>) -> (Rc<Context>, Rc<str>) {
    let main = main_agent(session);
    says(&main, "go").await;
    (main, session.tasks.all()[0].id.clone())
}

/// Starts `make` in the background; its task's id.
async fn made(main: &Rc<Context>) -> Rc<str> {
    use_tool(main, "Bash", json!({ "command": "make", "run_in_background": true })).await.unwrap();
    main.session.tasks.all().iter().find(|task| &*task.description == "make").unwrap().id.clone()
}

fn now_ms(session: &Session) -> u64 {
    session.now().0 / 1_000_000
}

/// Whole notifications and suppressed ones.
fn reports<T>(played: &Played<T>) -> (usize, usize) {
    let notified = played.count(|event| matches!(event, Event::Notified { .. }));
    (notified, played.count(|event| matches!(event, Event::NotifySuppressed { .. })))
}

/// Reads of tasks: how they ended, the state, whether slow work was done, how the end had been reported.
fn reads<T>(played: &Played<T>) -> Vec<(&'static str, &'static str, bool, &'static str)> {
    played.find(|event| match event {
        Event::TaskRead { how, state, settled, reported, .. } => Some((*how, *state, *settled, *reported)),
        _ => None,
    })
}

#[test]
fn task_01_task_03_a_read_that_does_not_block_shows_state_and_output_at_once() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let shell = made(&main).await;
        wait(&session, 1_500).await;
        let one = said(&main, "TaskOutput", json!({ "task_id": &*child, "block": false })).await;
        let other = said(&main, "TaskOutput", json!({ "task_id": &*shell, "block": false })).await;
        (child, shell, one, other, now_ms(&session))
    });
    let (child, shell, one, other, at_ms) = &played.value;
    assert_eq!(*at_ms, 1_500);
    assert!(one.starts_with(&format!("task_id: {child}\ntask_type: agent\nstatus: running\noutput_file: ")), "{one}");
    assert!(one.ends_with("\n\nI look.\n"), "{one}");
    assert!(other.starts_with(&format!("task_id: {shell}\ntask_type: shell\nstatus: running\n")), "{other}");
    assert_eq!(reads(&played), [("at_once", "running", false, "none"), ("at_once", "running", false, "none")]);
}

#[test]
fn task_02_task_05_notify_11_a_read_waits_for_the_end_and_no_notification_follows() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let said = said(&main, "TaskOutput", json!({ "task_id": &*child })).await;
        let at_ms = now_ms(&session);
        all_done(&session).await;
        (said, at_ms, now_ms(&session))
    });
    let (said, at_ms, done_ms) = &played.value;
    assert_eq!((*at_ms, *done_ms), (2_000, 7_000), "the read does not wait for the slow work");
    assert!(said.contains("\nstatus: completed\n") && said.ends_with("I look.\nnothing\n[completed]\n"), "{said}");
    assert_eq!(reports(&played), (0, 1));
    assert_eq!(played.notifications().len(), 0);
}

#[test]
fn notify_11_a_read_of_a_task_without_slow_work_consumes_its_end_too() {
    let agent = working().set(|settings| settings.classifier = Duration::default()).play(|session| async move {
        let (main, child) = started(&session).await;
        said(&main, "TaskOutput", json!({ "task_id": &*child })).await;
        all_done(&session).await;
    });
    let shell = working().play(|session| async move {
        let main = main_agent(&session);
        let shell = made(&main).await;
        let said = said(&main, "TaskOutput", json!({ "task_id": &*shell })).await;
        assert!(said.ends_with("\n\nbuilt"), "{said}");
        all_done(&session).await;
    });
    assert_eq!((reports(&agent), agent.notifications().len()), ((0, 1), 0));
    assert_eq!((reports(&shell), shell.notifications().len()), ((0, 1), 0));
}

#[test]
fn task_04_a_read_that_times_out_leaves_the_notification_alone() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let said = said(&main, "TaskOutput", json!({ "task_id": &*child, "timeout": 500 })).await;
        let at_ms = now_ms(&session);
        all_done(&session).await;
        (said, at_ms)
    });
    let (shown, at_ms) = &played.value;
    assert_eq!(*at_ms, 500);
    assert!(shown.contains("\nstatus: running\ntimed_out: true\n"), "{shown}");
    assert_eq!(reports(&played), (1, 0));
    let slow = working().says("explore", vec![text("late").after(900_000)]).play(|session| async move {
        let (main, child) = started(&session).await;
        said(&main, "TaskOutput", json!({ "task_id": &*child })).await;
        let by_default = now_ms(&session);
        said(&main, "TaskOutput", json!({ "task_id": &*child, "timeout": 700_000 })).await;
        (by_default, now_ms(&session))
    });
    assert_eq!(slow.value, (30_000, 630_000), "30 s by default, 600 s at most");
}

#[test]
fn task_05_an_interrupted_read_leaves_the_notification_alone() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let reader = main.clone();
        let read = async move { use_tool(&reader, "TaskOutput", json!({ "task_id": &*child })).await };
        let read = session.handle.spawn("read", read);
        wait(&session, 1_000).await;
        main.abort.give();
        assert_eq!(read.await.unwrap(), Err(ToolError::Aborted));
        all_done(&session).await;
    });
    assert_eq!(reports(&played), (1, 0));
}

#[test]
fn task_06_reading_the_output_file_is_preferred() {
    let played = working().play(|session| async move { started(&session).await });
    let tools = &played.asked_by("main")[0].draft.tools;
    let tools: Vec<Value> = tools.iter().map(|tool| serde_json::from_str(tool.json()).unwrap()).collect();
    let tool = tools.iter().find(|tool| tool["name"] == "TaskOutput").unwrap();
    let says = tool["description"].as_str().unwrap();
    assert!(says.starts_with("Deprecated") && says.contains("Read"), "{says}");
}

#[test]
fn task_07_task_10_a_stop_ends_agents_by_their_signal_and_shells_by_their_process() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let shell = made(&main).await;
        wait(&session, 1_500).await;
        let one = said(&main, "TaskStop", json!({ "task_id": &*child })).await;
        let other = said(&main, "TaskStop", json!({ "shell_id": &*shell })).await;
        assert!(!main.abort.is_given(), "no other signal than the task's own");
        wait(&session, 1).await;
        let states = [&child, &shell].map(|id| session.tasks.get(id).unwrap().state().name());
        all_done(&session).await;
        (one, other, states)
    });
    let (one, other, states) = &played.value;
    assert!(one.ends_with("is being stopped.") && other.ends_with("is being stopped."), "{one} {other}");
    assert_eq!(*states, ["killed", "killed"]);
    assert_eq!(reports(&played), (2, 0));
    let told = played.notifications();
    assert!(told.iter().any(|told| told.contains("<status>killed</status>") && told.contains("I look.")), "{told:?}");
    assert_eq!(played.count(|event| matches!(event, Event::AgentFailed { .. })), 0);
}

#[test]
fn task_08_task_09_a_stop_of_an_unknown_or_ended_task_fails() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        all_done(&session).await;
        let mut answers = Vec::new();
        for input in [json!({ "task_id": "agent-none" }), json!({ "task_id": &*child }), json!({})] {
            answers.push(said(&main, "TaskStop", input).await);
        }
        answers.push(said(&main, "TaskOutput", json!({ "task_id": "agent-none" })).await);
        (child, answers)
    });
    let (child, answers) = &played.value;
    assert_eq!(answers[0], "error: TaskStop: there is no task `agent-none`.");
    assert_eq!(answers[1], format!("error: TaskStop: task `{child}` is not running, it is completed."));
    assert_eq!(answers[2], "error: TaskStop: the required field `task_id` is missing.");
    assert_eq!(answers[3], "error: TaskOutput: there is no task `agent-none`.");
}

#[test]
fn diag_01_a_read_reports_how_the_end_was_reported_before() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        let shell = made(&main).await;
        for (id, ms) in [(&child, 0), (&child, 0), (&shell, 2_000)] {
            wait(&session, ms).await;
            said(&main, "TaskOutput", json!({ "task_id": &**id })).await;
        }
        session.front.set_dialog(&session, true);
        said(&main, "TaskOutput", json!({ "task_id": &*shell, "block": false })).await;
    });
    let reported: Vec<_> = reads(&played).into_iter().map(|(.., reported)| reported).collect();
    assert_eq!(reported, ["none", "read", "enqueued", "enqueued"]);
    let drains = played.find(|event| match event {
        Event::TaskRead { drains, .. } => Some(*drains),
        _ => None,
    });
    assert_eq!(drains, [true, true, true, false], "no consumer drains while a dialog is open");
}

#[test]
fn diag_08_a_read_reports_whether_the_task_ended_and_before_which_work() {
    let played = working().play(|session| async move {
        let (main, child) = started(&session).await;
        said(&main, "TaskOutput", json!({ "task_id": &*child, "timeout": 1 })).await;
        said(&main, "TaskOutput", json!({ "task_id": &*child })).await;
        all_done(&session).await;
        said(&main, "TaskOutput", json!({ "task_id": &*child })).await;
    });
    let seen: Vec<_> = reads(&played).into_iter().map(|(how, state, settled, _)| (how, state, settled)).collect();
    assert_eq!(seen, [("timed_out", "running", false), ("ended", "completed", false), ("ended", "completed", true)]);
}
