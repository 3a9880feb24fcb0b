//! Commands: scripted, foreground and background, ended and stuck.

use forkcast_sim::agent::Event;
use forkcast_sim::agent::entry::ToolUse;
use forkcast_sim::agent::permission::rule::{Places, Subject};
use forkcast_sim::agent::task::Kind;
use forkcast_sim::agent::tool::{Call, ToolError, background};
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::agent::world::{Change, Rule};
use forkcast_sim::time::Duration;
use proptest::prelude::*;
use serde_json::json;

use super::stage::{Stage, kind, main_agent, said, sub_agent};

fn secs(secs: u64) -> Option<Duration> {
    Some(Duration::from_secs(secs))
}

#[test]
fn a_command_has_its_duration_output_and_file_changes() {
    let append = Change::Append { path: "log".into(), text: "built\n".into() };
    let rules = vec![
        Rule { times: Some(1), exit_code: 101, takes: secs(3), ..Rule::new("cargo test", "1 failed") },
        Rule { takes: secs(2), changes: vec![append], ..Rule::new("cargo *", "ok") },
    ];
    let played = Stage::new().with_shell(rules).play(|session| async move {
        let context = main_agent(&session);
        let mut answers = Vec::new();
        for command in ["cargo test", "cargo test", "cargo build", "make it"] {
            answers.push(said(&context, "Bash", json!({ "command": command })).await);
        }
        (answers, session.world.files.read("/repo/log").unwrap().to_string())
    });
    let (answers, log) = &played.value;
    assert_eq!(answers[..3], ["error: Exit code 101\n1 failed", "ok", "ok"]);
    assert!(answers[3].starts_with("error: Exit code 127\nno rule for this command: `make it`."), "{}", answers[3]);
    assert_eq!(log, "built\nbuilt\n");
    assert_eq!(played.at_ms, 3_000 + 2_000 + 2_000);
    let known = played.picked(|event| match event {
        Event::Shell { program, rule, .. } => Some((program.as_ref(), *rule)),
        _ => None,
    });
    assert_eq!(known, [("cargo", Some(0)), ("cargo", Some(1)), ("cargo", Some(1)), ("make", None)]);
}

#[test]
fn a_cancelled_command_changes_nothing() {
    let write = Change::Write { path: "out".into(), text: "done".into() };
    let rules = vec![Rule { takes: secs(700), changes: vec![write], ..Rule::new("*", "done") }];
    let played = Stage::new().with_shell(rules).play(|session| async move {
        let context = main_agent(&session);
        let mut answers = vec![
            said(&context, "Bash", json!({ "command": "a", "timeout": 1_000 })).await,
            said(&context, "Bash", json!({ "command": "a" })).await,
        ];
        let tool_use = ToolUse {
            id: "t".into(),
            name: "Bash".into(),
            input: json!({ "command": "a", "timeout": 600_000 }).into(),
        };
        let abort = forkcast_sim::agent::Abort::default();
        let call = Call { tool_use, context: context.clone(), abort: abort.clone(), message: None };
        let tool = context.pool().get("Bash").unwrap().clone();
        let task = session.handle.spawn("call", async move { tool.call(call).await });
        session.handle.sleep(Duration::from_secs(9)).await;
        abort.give();
        assert_eq!(task.await.unwrap(), Err(ToolError::Aborted));
        answers.push(format!("{:?}", session.world.files.read("/repo/out")));
        answers.push(said(&context, "Bash", json!({ "command": "a", "timeout": 999_999 })).await);
        answers
    });
    let stopped = |ms: u64| format!("error: The command was stopped after {ms} ms: it had not ended by then.");
    assert_eq!(played.value, [stopped(1_000), stopped(120_000), "None".into(), stopped(600_000)]);
    assert_eq!(played.at_ms, 1_000 + 120_000 + 9_000 + 600_000);
}

#[test]
fn ctx_17_agent_10_a_command_runs_in_its_agents_directory() {
    let append = Change::Append { path: "log".into(), text: "x".into() };
    let rules = vec![Rule { takes: secs(1), changes: vec![append], ..Rule::new("touch", "") }];
    let played = Stage::new().with_shell(rules).play(|session| async move {
        let agent = sub_agent(&main_agent(&session), kind("worker"), false);
        agent.cwd.replace("/elsewhere".into());
        let log = |folder: &str| session.world.files.read(&format!("{folder}/log")).map(|text| text.to_string());
        said(&agent, "Bash", json!({ "command": "touch" })).await;
        let in_front = log("/elsewhere");
        said(&agent, "Bash", json!({ "command": "touch", "run_in_background": true })).await;
        session.handle.sleep(Duration::from_secs(2)).await;
        (in_front, log("/elsewhere"), log("/repo"))
    });
    assert_eq!(played.value, (Some("x".into()), Some("xx".into()), None));
}

/// The enqueued items: mode, priority, source.
fn enqueued(events: &[(u64, Event)]) -> Vec<(u64, &'static str, &'static str, &'static str)> {
    let pick = |(at, event): &(u64, Event)| match event {
        Event::Enqueued { mode, priority, source, .. } => Some((*at, *mode, *priority, *source)),
        _ => None,
    };
    events.iter().filter_map(pick).collect()
}

#[test]
fn notify_14_queue_07_a_background_shell_reports_its_end() {
    let rules = vec![
        Rule { takes: secs(5), ..Rule::new("good", "all fine") },
        Rule { takes: secs(7), exit_code: 2, ..Rule::new("bad", "broken") },
        Rule { takes: None, ..Rule::new("endless", "") },
    ];
    let played = Stage::new().with_shell(rules).play(|session| async move {
        let context = main_agent(&session);
        let mut answers = Vec::new();
        for command in ["good", "bad", "endless"] {
            answers.push(said(&context, "Bash", json!({ "command": command, "run_in_background": true })).await);
        }
        assert_eq!((session.now().0, session.tasks.running()), (0, 3));
        let tasks = session.tasks.all();
        let of = |name: &str| tasks.iter().find(|task| &*task.description == name).unwrap().clone();
        session.handle.sleep(Duration::from_secs(10)).await;
        session.tasks.kill(&of("endless").id).unwrap();
        session.handle.sleep(Duration::from_secs(1)).await;
        let output = session.world.files.read(&of("good").output_file).unwrap().to_string();
        let states: Vec<_> = ["good", "bad", "endless"].map(|name| of(name).state().name()).into();
        (answers, output, states, session.tasks.running())
    });
    let (answers, output, states, running) = &played.value;
    assert!(answers.iter().all(|answer| answer.starts_with("The command runs in the background as shell-")));
    assert_eq!((output.as_str(), running), ("all fine", &0));
    assert_eq!(states[..], ["completed", "failed", "killed"]);
    let told = [5_000, 7_000, 10_000].map(|at| (at, "task-notification", "later", "shell"));
    assert_eq!(enqueued(&played.events), told);
}

#[test]
fn notify_14_a_stuck_shell_and_a_monitor_are_reported_while_they_run() {
    let stuck = Rule { takes: None, stuck_after: secs(45), ..Rule::new("ask *", "") };
    let slow = Rule { takes: secs(60), stuck_after: secs(45), ..Rule::new("slow", "") };
    let quick = Rule { takes: secs(45), stuck_after: secs(45), ..Rule::new("quick", "") };
    let played = Stage::new().with_shell(vec![stuck, slow, quick]).play(|session| async move {
        let context = main_agent(&session);
        let monitor = background::start(&context, &"toolu_1".into(), Kind::Monitor, "slow", "watch");
        background::start(&context, &"toolu_2".into(), Kind::Shell, "ask name", "ask");
        background::start(&context, &"toolu_3".into(), Kind::Shell, "quick", "quick");
        session.handle.sleep(Duration::from_secs(100)).await;
        (monitor.state().name(), session.tasks.running())
    });
    assert_eq!(played.value, ("completed", 1));
    let told = |at, source| (at, "task-notification", "later", source);
    let expected = [told(45_000, "monitor"), told(45_000, "shell"), told(45_000, "shell"), told(60_000, "monitor")];
    assert_eq!(enqueued(&played.events), expected);
    let stuck = played.picked(|event| matches!(event, Event::Stuck { .. }).then_some(()));
    assert_eq!(stuck.len(), 2, "a command that ends at the instant of the look is not stuck");
}

#[test]
fn notify_14_a_sub_agents_shell_notifies_the_main_thread_if_the_agent_has_ended() {
    let rules = vec![Rule { takes: secs(5), ..Rule::new("slow", "done") }];
    let played = Stage::new().with_shell(rules).play(|session| async move {
        let agent = sub_agent(&main_agent(&session), kind("worker"), false);
        said(&agent, "Bash", json!({ "command": "slow", "run_in_background": true })).await;
        let task = session.tasks.all().remove(0);
        assert_eq!((task.owner.as_ref(), &*task.tool_use), (Some(&agent.agent), "toolu_1"));
        session.handle.sleep(Duration::from_secs(6)).await;
    });
    let to = played.picked(|event| match event {
        Event::Enqueued { agent, .. } => Some(agent.clone()),
        _ => None,
    });
    assert_eq!(to, [None]);
}

proptest! {
    #[test]
    fn patterns_match_like_equivalent_regular_expressions(pattern in r"[ab*\\]{0,8}", text in r"[ab*\\]{0,8}") {
        let expression = regex::escape(&pattern).replace(r"\\\*", r"\x2a").replace(r"\*", ".*");
        let meant = regex::Regex::new(&format!("^{expression}$")).unwrap().is_match(&text);
        prop_assert_eq!(Pattern::new(&pattern).matches(&text), meant, "{} on {}", pattern, text);
    }

    #[test]
    fn a_rule_that_covers_a_line_touches_it(
        rule in proptest::sample::select(vec!["Bash", "Bash(ls:*)", "Bash(ls *)", "Bash(ls)", "Bash(* rm *)"]),
        words in proptest::collection::vec(proptest::sample::select(vec!["ls", "rm", "a", "&&", ";", "|", "2>&1", "$(rm)", "\n"]), 0..6),
    ) {
        let (rule, line) = (forkcast_sim::agent::permission::Rule::parse(rule).unwrap(), Subject::Command(words.join(" ")));
        let places = Places { cwd: "/repo", home: "/home/user" };
        prop_assert!(!rule.covers("Bash", &line, places) || rule.touches("Bash", &line, places), "{line:?}");
    }
}
