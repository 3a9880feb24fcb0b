//! The queue and its three consumers (contract QUEUE, scenario E12).

use std::rc::Rc;

use forkcast_sim::agent::input::Scripted;
use forkcast_sim::agent::permission::{self, Permissions, Rules};
use forkcast_sim::agent::queue::{Item, Mode, Priority};
use forkcast_sim::agent::session::Session;
use forkcast_sim::agent::world::{Rule, Shell};
use forkcast_sim::time::Duration;
use serde_json::json;

use super::reply::Reply;
use super::theatre::{Played, Theatre};

fn put(session: &Session, mode: Mode, priority: Priority, agent: Option<&str>, text: &str) {
    session.queue.enqueue(Item::new(mode, priority, agent.map(Into::into), text, "agent"));
}

/// A session without a terminal.
fn headless(replies: Vec<Reply>) -> Theatre {
    let mut theatre = Theatre::new(replies);
    theatre.settings.interactive = false;
    theatre
}

fn dequeued(played: &Played, field: &str) -> Vec<String> {
    played.words("queue.dequeue", field)
}

#[test]
fn queue_01_queue_02_queue_06_queue_12_one_queue_serves_every_source_in_four_modes() {
    let played = Theatre::new(Vec::new())
        .act(0, |session| {
            session.front.type_line(session, "typed");
            session.front.type_line(session, "!ls");
            session.queue.enqueue(Item::notification(None, "<task-notification/>", "shell"));
            session.queue.enqueue(Item::prompt("scheduled", "cron"));
            session.queue.enqueue(Item::prompt("pushed", "channel"));
            session.queue.enqueue(Item::orphaned_permission("late: Bash was allowed"));
        })
        .play();
    let modes = ["prompt", "bash", "task-notification", "prompt", "prompt", "orphaned-permission"];
    assert_eq!(played.words("queue.enqueue", "mode"), modes);
    assert_eq!(played.words("queue.enqueue", "source"), ["user", "user", "shell", "cron", "channel", "permission"]);
    assert_eq!(dequeued(&played, "mode").len(), 6);
    assert!(played.asked.iter().any(|asked| asked.said().contains("late: Bash was allowed")));
}

#[test]
fn queue_03_queue_17_items_leave_by_priority_and_in_order_within_one() {
    let played = headless(Vec::new())
        .act(0, |session| {
            let add = |priority, text| put(session, Mode::Bash, priority, None, text);
            for (priority, text) in [
                (Priority::Later, "5"),
                (Priority::Next, "3"),
                (Priority::Now, "1"),
                (Priority::Next, "4"),
                (Priority::Later, "6"),
                (Priority::Now, "2"),
            ] {
                add(priority, text);
            }
        })
        .play();
    let lines: Vec<String> = played.entries().iter().map(|entry| entry.text.to_string()).collect();
    let lines: Vec<&str> = lines.iter().filter_map(|text| text.strip_prefix("<bash-input>")).collect();
    assert_eq!(lines.iter().map(|line| &line[..1]).collect::<String>(), "123456");
}

#[test]
fn queue_04_queue_05_prompts_come_before_notifications_by_default() {
    let played = headless(Vec::new())
        .act(0, |session| {
            session.queue.enqueue(Item::notification(None, "<task-notification/>", "agent"));
            session.queue.enqueue(Item::prompt("typed", "user"));
        })
        .play();
    assert_eq!(played.words("queue.enqueue", "priority"), ["later", "next"]);
    assert_eq!(dequeued(&played, "mode"), ["prompt", "task-notification"]);
    assert_eq!(played.asked.len(), 2);
    assert!(!played.asked[0].said().contains("task-notification"));
}

#[test]
fn queue_09_queue_10_scheduled_prompts_and_pushes_are_treated_like_user_prompts() {
    let played = headless(vec![Reply::says("one answer to both")])
        .act(0, |session| {
            session.queue.enqueue(Item::prompt("scheduled", "cron"));
            session.queue.enqueue(Item::prompt("pushed", "channel"));
        })
        .play();
    assert_eq!(played.asked.len(), 1, "prompts that wait together are one turn");
    let blocks = played.asked[0].messages()[0]["content"].clone();
    let texts: Vec<&str> = blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
    assert!(texts.ends_with(&["scheduled", "pushed"]));
}

#[test]
fn queue_13_the_terminals_consumer_waits_for_the_query_and_for_dialogs() {
    let slow = Reply::says("slow").first_byte(3_000);
    let played = Theatre::new(vec![slow, Reply::says("fast")])
        .types(0, "one")
        .act(1_000, |session| session.front.set_dialog(session, true))
        .types(2_000, "two")
        .act(7_000, |session| session.front.set_dialog(session, false))
        .play();
    let at: Vec<u64> = played.asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 7_000]);
    assert_eq!(dequeued(&played, "consumer"), ["repl", "repl"]);
}

#[test]
fn queue_13_items_that_cannot_be_joined_are_served_alone() {
    let played = headless(Vec::new())
        .act(0, |session| {
            session.queue.enqueue(Item::orphaned_permission("late: Bash was allowed"));
            session.queue.enqueue(Item::orphaned_permission("late: Bash was denied"));
            session.queue.enqueue(Item::prompt("two", "user"));
            session.queue.enqueue(Item::prompt("three", "user"));
        })
        .play();
    assert_eq!(dequeued(&played, "mode"), ["orphaned-permission", "orphaned-permission", "prompt", "prompt"]);
    assert_eq!(played.asked.len(), 3, "each late answer is a turn, and the prompts are one");
}

#[test]
fn queue_13_items_after_a_command_wait_until_it_has_ended() {
    let slow = || Rc::new(Scripted { takes: Duration::from_millis(500), output: "done".into() });
    let played = Theatre::new(vec![Reply::says("one"), Reply::says("two")])
        .act(0, move |session| {
            session.front.register("slow", slow());
            session.queue.enqueue(Item::prompt("/slow", "user"));
            session.queue.enqueue(Item::prompt("plain", "user"));
        })
        .play();
    let taken = played.events.iter().filter(|(_, event)| event["event"] == "queue.dequeue");
    assert_eq!(taken.map(|(at, _)| *at).collect::<Vec<_>>(), [0, 500]);
}

#[test]
fn queue_14_a_headless_session_waits_for_background_tasks_and_drains_again() {
    let call = |kind, id, description| {
        let input =
            json!({ "description": description, "prompt": "work", "subagent_type": kind, "run_in_background": true });
        (id, "Agent", input)
    };
    let launch = Reply::calls(&[call("slow", "t1", "slow work"), call("fast", "t2", "fast work")]);
    let theatre = headless(vec![launch, Reply::says("launched"), Reply::says("heard"), Reply::says("heard again")]);
    let played = theatre
        .kinds(&[("slow", ""), ("fast", "")])
        .reply("slow", Reply::says("slow is done").first_byte(60_000))
        .reply("fast", Reply::says("fast is done").first_byte(20_000))
        .types(0, "go")
        .play();
    assert_eq!(dequeued(&played, "mode"), ["prompt", "task-notification", "task-notification"]);
    assert_eq!(dequeued(&played, "consumer"), ["headless"; 3]);
    assert_eq!(played.at_ms, 60_000, "it ends when neither is left");
    assert_eq!(played.reasons().len(), 3);
}

#[test]
fn queue_15_queue_16_sub_agents_and_the_main_thread_take_only_their_own_items() {
    let input = json!({ "description": "d", "prompt": "work", "subagent_type": "worker" });
    let launch = Reply::calls(&[("t1", "Agent", input)]);
    let theatre = Theatre::new(vec![launch, Reply::says("done")]).kinds(&[("worker", "")]);
    let played = theatre
        .reply("worker", Reply::calls(&[("p1", "Probe", json!({ "takes_ms": 10_000 }))]))
        .reply("worker", Reply::says("worker is done"))
        .types(0, "go")
        .act(5_000, |session| {
            let worker = session.tasks.in_foreground()[0].id.clone();
            put(session, Mode::TaskNotification, Priority::Later, Some(&worker), "<note>for the worker</note>");
            put(session, Mode::Prompt, Priority::Now, Some(&worker), "<note>a prompt for it</note>");
            put(session, Mode::TaskNotification, Priority::Later, None, "<note>for main</note>");
        })
        .play();
    assert_eq!(dequeued(&played, "consumer"), ["repl", "sub-agent", "repl", "repl"]);
    let of = |kind: &str| -> String {
        let asked = played.asked.iter().filter(|asked| &*asked.question.agent_type == kind);
        asked.map(super::reply::Asked::said).collect()
    };
    assert!(of("worker").contains("for the worker") && !of("worker").contains("a prompt for it"));
    assert!(of("main").contains("for main") && !of("main").contains("for the worker"));
    assert!(played.main.session.queue.is_empty(), "leftover items of a sub-agent belong to the main thread");
    let at = played.at(&[("event", "queue.dequeue"), ("consumer", "sub-agent")]);
    assert_eq!(at, Some(10_000), "at its next boundary between rounds");
}

#[test]
fn queue_16_the_main_thread_leaves_the_items_of_agents() {
    let taken = Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = taken.clone();
    headless(Vec::new())
        .act(0, move |session| {
            put(session, Mode::TaskNotification, Priority::Now, Some("agent-1"), "<note>its own</note>");
            put(session, Mode::TaskNotification, Priority::Now, None, "<note>for main</note>");
            seen.borrow_mut().extend(session.queue.take_for_main("test", |_| true));
            session.queue.hand_over("agent-1");
        })
        .play();
    let texts: Vec<String> = taken.borrow().iter().map(|item| item.text.to_string()).collect();
    assert_eq!(texts, ["<note>for main</note>"]);
}

#[test]
fn queue_16_items_for_an_ended_agent_go_to_the_main_thread() {
    let played = headless(Vec::new())
        .act(0, |session| {
            put(session, Mode::TaskNotification, Priority::Later, Some("agent-1"), "<note>left over</note>");
            session.queue.hand_over("agent-1");
        })
        .play();
    assert!(played.asked[0].said().contains("left over"));
    assert!(played.main.session.queue.is_empty());
}

#[test]
fn queue_07_a_background_shell_reports_its_end_through_the_queue() {
    let call = Reply::calls(&[("t1", "Bash", json!({ "command": "make", "run_in_background": true }))]);
    let mut theatre = headless(vec![call, Reply::says("it builds"), Reply::says("it is built")]).types(0, "go");
    let rule = Rule { takes: Some(Duration::from_secs(30)), ..Rule::new("make", "ok") };
    theatre.world.shell = Shell::new(vec![rule]).into();
    let allow = vec![permission::Rule::parse("Bash").unwrap()];
    theatre.permissions = Permissions::new(permission::Mode::Default, false, Rules { allow, ..Rules::default() });
    let played = theatre.play();
    let told = played.events("queue.enqueue")[1];
    assert_eq!((&told["mode"], &told["source"]), (&json!("task-notification"), &json!("shell")));
    let at: Vec<u64> = played.asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 0, 30_000]);
}
