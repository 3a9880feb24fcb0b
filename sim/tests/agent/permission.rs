//! Permissions: rules, modes, requests and their answers.

use std::rc::Rc;

use forkcast_sim::agent::definition::{AgentDefinition, Definitions, MemoryScope, Ranking};
use forkcast_sim::agent::permission::{Answered, Mode, Permissions, Route, Rule, Rules};
use forkcast_sim::agent::query::{Decision, can_use};
use forkcast_sim::agent::tool;
use forkcast_sim::agent::{Context, Event};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::stage::{Stage, ask, kind, main_agent, reply, results, said, says, sub_agent, tool_use, uses};

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| Rule::parse(text).expect(text)).collect()
}

/// A session with rules to allow, deny and ask.
fn stage(mode: Mode, bypass_allowed: bool, allow: &[&str], deny: &[&str], ask: &[&str]) -> Stage {
    let mut stage = Stage::new();
    let rules = Rules { allow: rules(allow), deny: rules(deny), ask: rules(ask) };
    stage.opening.permissions = Permissions::new(mode, bypass_allowed, rules);
    stage.opening.definitions = Definitions::gather(&[], Ranking::default());
    stage
}

fn input(tool: &str, about: &str) -> Value {
    match tool {
        "Bash" => json!({ "command": about }),
        "Agent" => json!({ "subagent_type": about }),
        _ => json!({ "file_path": about }),
    }
}

/// The outcome of a call: `allowed`, `denied`, or the route of its request, which is withdrawn.
async fn verdict(context: &Rc<Context>, tool: &str, about: &str) -> &'static str {
    let tools = tool::every();
    let permissions = &context.session.permissions;
    let named = tools.all().iter().find(|known| known.name() == tool).expect("a tool");
    let tool_use = tool_use("toolu_1", tool, input(tool, about));
    forkcast_sim::select! {
        decision = can_use(context, &**named, &tool_use) => match decision {
            Decision::Allowed => "allowed",
            Decision::Denied(_) => "denied",
        },
        asked = permissions.next_request() => asked.route.name(),
    }
}

/// The decision about a command; waits for the answer to a request.
async fn use_of_bash(context: &Rc<Context>) -> Decision {
    let tools = tool::every();
    let bash = tools.all().iter().find(|tool| tool.name() == "Bash").unwrap();
    let tool_use = tool_use("toolu_1", "Bash", json!({ "command": "ls" }));
    can_use(context, &**bash, &tool_use).await
}

/// Outcomes of the main agent's calls.
fn of_main(stage: Stage, calls: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    let calls = calls.to_vec();
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let mut verdicts = Vec::new();
        for (tool, about) in calls {
            verdicts.push(verdict(&main, tool, about).await);
        }
        verdicts
    });
    played.value
}

/// Outcomes of calls of an agent with this mode in its definition.
fn of_worker(stage: Stage, mode: Option<Mode>, calls: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    let calls = calls.to_vec();
    let played = stage.play(|session| async move {
        let definition = AgentDefinition { permission_mode: mode, ..kind("worker") };
        let worker = sub_agent(&main_agent(&session), definition, false);
        let mut verdicts = Vec::new();
        for (tool, about) in calls {
            verdicts.push(verdict(&worker, tool, about).await);
        }
        verdicts
    });
    played.value
}

const CALLS: [(&str, &str); 5] =
    [("Read", "a.rs"), ("Edit", "src/a.rs"), ("Write", ".git/config"), ("Edit", "/etc/hosts"), ("Bash", "rm -r x")];

#[test]
fn perm_01_three_layers_apply_one_after_the_other() {
    let stage = stage(Mode::Default, false, &[], &["Agent(plan)", "Write", "Bash(rm:*)"], &[]);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let may_start = session.definitions.not_denied(&session.permissions);
        let worker = sub_agent(&main, kind("worker"), false);
        let has = ["Write", "Bash"].map(|name| worker.pool().get(name).is_some());
        let requests = [verdict(&worker, "Bash", "rm x").await, verdict(&worker, "Bash", "ls").await];
        (may_start.iter().any(|definition| &*definition.agent_type == "plan"), has, requests)
    });
    assert_eq!(played.value, (false, [false, true], ["denied", "independent"]));
}

#[test]
fn perm_02_perm_04_a_call_of_a_denied_agent_is_permitted_as_a_call_and_refused_inside() {
    let task = json!({ "description": "d", "prompt": "p", "subagent_type": "Explore" });
    let rules = vec![reply("main", 0, &[uses("Agent", task)]), reply("main", 1, &[says("then not")])];
    let stage = stage(Mode::Default, false, &[], &["Agent(explore)"], &[]).says(rules);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        ask(&main, "go").await;
        results(&main)
    });
    let steps = played.picked(|event| match event {
        Event::PermissionReply { allowed, .. } => Some(format!("reply {allowed}")),
        Event::ToolStart { name, .. } => Some(format!("start {name}")),
        Event::Refused { why, .. } => Some(format!("refused {}", why.contains("denied"))),
        Event::AgentStarted { agent_type, .. } => Some(format!("agent {agent_type}")),
        _ => None,
    });
    assert_eq!(steps, ["reply true", "start Agent", "refused true"]);
    assert_eq!((played.value.len(), &played.value[0]["is_error"]), (1, &json!(true)));
}

#[test]
fn perm_03_denied_types_are_filtered_out_of_the_definitions() {
    let names = |deny: &[&str]| {
        let rules = Rules { deny: rules(deny), ..Rules::default() };
        let kept = Permissions::new(Mode::Default, false, rules);
        let definitions = Definitions::gather(&[], Ranking::default());
        let kept = definitions.not_denied(&kept);
        kept.iter().map(|definition| definition.agent_type.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]).len(), 5);
    assert_eq!(names(&["Agent(explore)", "Agent(plan)"]), ["claude-code-guide", "general-purpose", "verification"]);
    assert_eq!(names(&["Agent"]), [""; 0]);
}

#[test]
fn perm_08_perm_09_an_agent_without_a_mode_makes_safe_edits_freely_and_asks_for_the_rest() {
    let expected = ["allowed", "allowed", "independent", "independent", "independent"];
    assert_eq!(of_worker(stage(Mode::Default, false, &[], &[], &[]), None, &CALLS), expected);
    let expected = ["allowed", "allowed", "local", "local", "local"];
    assert_eq!(of_main(stage(Mode::AcceptEdits, false, &[], &[], &[]), &CALLS), expected);
}

#[test]
fn perm_10_in_default_mode_rules_allow_or_the_user_is_asked() {
    let expected = ["allowed", "local", "local", "local", "local"];
    assert_eq!(of_main(stage(Mode::Default, false, &[], &[], &[]), &CALLS), expected);
    let allow = ["Edit(src/**)", "Bash(rm:*)"];
    let expected = ["allowed", "allowed", "independent", "independent", "allowed"];
    assert_eq!(of_worker(stage(Mode::Default, false, &allow, &[], &[]), Some(Mode::Default), &CALLS), expected);
}

#[test]
fn perm_10_in_plan_mode_nothing_is_changed_whatever_rules_allow() {
    let calls = [("Read", "a"), ("Edit", "a"), ("Bash", "ls"), ("Agent", "plan")];
    let expected = ["allowed", "denied", "denied", "allowed"];
    assert_eq!(of_main(stage(Mode::Plan, false, &["Bash", "Edit"], &[], &[]), &calls), expected);
}

#[test]
fn perm_10_ctx_12_in_plan_mode_an_agent_does_not_even_write_its_memory() {
    let of = |mode: Mode| {
        let played = stage(Mode::Default, false, &[], &[], &[]).play(move |session| async move {
            let (memory, permission_mode) = (Some(MemoryScope::Project), Some(mode));
            let definition = AgentDefinition { memory, permission_mode, ..kind("worker") };
            let worker = sub_agent(&main_agent(&session), definition, false);
            let folder = worker.memory.as_ref().unwrap().directory.clone();
            let within = verdict(&worker, "Write", &format!("{folder}/notes.md")).await;
            (within, verdict(&worker, "Write", "notes.md").await)
        });
        played.value
    };
    assert_eq!(of(Mode::Default), ("allowed", "independent"));
    assert_eq!(of(Mode::Plan), ("denied", "denied"));
}

#[test]
fn perm_11_bypass_must_be_enabled_by_the_user() {
    let bypass = Some(Mode::BypassPermissions);
    assert_eq!(of_worker(stage(Mode::Default, true, &[], &[], &[]), bypass, &CALLS), ["allowed"; 5]);
    let as_default = ["allowed", "independent", "independent", "independent", "independent"];
    assert_eq!(of_worker(stage(Mode::Default, false, &[], &[], &[]), bypass, &CALLS), as_default);
    assert_eq!(of_main(stage(Mode::BypassPermissions, false, &[], &[], &[]), &CALLS)[4], "local");
    assert_eq!(of_main(stage(Mode::BypassPermissions, true, &[], &[], &[]), &CALLS)[4], "allowed");
}

#[test]
fn perm_12_a_request_bubbles_from_any_depth_to_the_terminal_and_is_answered_there() {
    let played = stage(Mode::Default, false, &[], &[], &[]).play(|session| async move {
        let main = main_agent(&session);
        let child = sub_agent(&main, kind("child"), false);
        let bubbling = AgentDefinition { permission_mode: Some(Mode::Bubble), ..kind("grandchild") };
        let grandchild = sub_agent(&child, bubbling, false);
        let asking = grandchild.clone();
        let mut answers = Vec::new();
        for allow in [true, false] {
            let asking = asking.clone();
            let decision = session.handle.spawn("ask", async move { use_of_bash(&asking).await });
            let asked = session.permissions.next_request().await;
            assert_eq!((asked.route, &*asked.agent, &*asked.tool), (Route::Bubble, &*grandchild.agent, "Bash"));
            session.handle.sleep(Duration::from_secs(5)).await;
            assert_eq!(session.permissions.answer(&session.queue, asked.request, allow), Answered::Taken);
            answers.push(decision.await.unwrap());
            assert!(session.permissions.open_requests().is_empty());
        }
        answers
    });
    let denied = Decision::Denied("The user denied permission for Bash.".into());
    assert_eq!(played.value, [Decision::Allowed, denied]);
    assert_eq!(played.at_ms, 10_000);
    let replies = played.picked(|event| match event {
        Event::PermissionReply { allowed, by, .. } => Some((*allowed, *by)),
        _ => None,
    });
    assert_eq!(replies, [(true, "user"), (false, "user")]);
}

#[test]
fn perm_13_deny_rules_apply_to_every_agent_in_every_mode() {
    for mode in Mode::ALL {
        let denying = || stage(mode, true, &["Bash"], &["Bash(rm:*)"], &["Bash(rm:*)"]);
        assert_eq!(of_main(denying(), &[("Bash", "rm x")]), ["denied"], "main in {}", mode.name());
        assert_eq!(of_worker(denying(), Some(mode), &[("Bash", "ls; rm x")]), ["denied"], "{}", mode.name());
    }
    let allowing = stage(Mode::Default, false, &["Bash(ls:*)"], &[], &[]);
    assert_eq!(of_worker(allowing, None, &[("Bash", "ls -l"), ("Bash", "cat a")]), ["allowed", "independent"]);
}

#[test]
fn perm_10_ask_rules_take_precedence_over_the_mode_and_allow_rules() {
    let asking = || stage(Mode::BypassPermissions, true, &["Bash"], &[], &["Bash(git push:*)", "Agent(plan)"]);
    let calls = [("Bash", "git push -f"), ("Bash", "git pull"), ("Agent", "Plan"), ("Agent", "explore")];
    assert_eq!(of_main(asking(), &calls), ["local", "allowed", "local", "allowed"]);
}

#[test]
fn perm_14_agent_08_a_calls_mode_has_no_effect_on_a_local_agent() {
    let task =
        |mode: &str| json!({ "description": "d", "prompt": "p", "subagent_type": "general-purpose", "mode": mode });
    let edit = uses("Write", json!({ "file_path": "a", "content": "b" }));
    let rules = vec![
        reply("general-purpose", 0, &[edit, uses("Bash", json!({ "command": "ls" }))]),
        reply("general-purpose", 1, &[says("done")]),
    ];
    for mode in ["plan", "default", "bypassPermissions"] {
        let stage = stage(Mode::Default, true, &[], &[], &[]).says(rules.clone());
        let played = stage.play(|session| async move {
            let answering = session.clone();
            session.handle.spawn("user", async move {
                let asked = answering.permissions.next_request().await;
                answering.permissions.answer(&answering.queue, asked.request, false)
            });
            said(&main_agent(&session), "Agent", task(mode)).await
        });
        assert!(played.value.contains("done"), "{}", played.value);
        let decided = played.picked(|event| match event {
            Event::ToolsResolved { agent, mode, .. } if &**agent != "main" => Some(*mode),
            Event::PermissionReply { by, .. } => Some(*by),
            _ => None,
        });
        assert_eq!(decided, ["acceptEdits", "mode", "user"], "{mode}");
    }
}

#[test]
fn perm_15_loop_13_a_denied_call_does_not_run_and_the_loop_continues() {
    let calls = [uses("Bash", json!({ "command": "rm x" })), uses("Read", json!({ "file_path": "a" }))];
    let rules = vec![reply("main", 0, &calls), reply("main", 1, &[says("well")])];
    let stage = stage(Mode::Default, false, &[], &["Bash(rm:*)"], &[]).with_files(&[("/repo/a", "text")]).says(rules);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let ended = ask(&main, "go").await;
        (ended.turns, results(&main))
    });
    let (turns, results) = &played.value;
    assert_eq!(*turns, 2);
    let denied = "Permission for Bash was denied by the rule `Bash(rm:*)`.";
    let result = |denied: bool| results.iter().find(|result| (result["is_error"] == true) == denied).unwrap();
    assert_eq!((results.len(), result(true)["content"].as_str()), (2, Some(denied)));
    assert!(result(false)["content"].as_str().unwrap().contains("text"));
    let checked = played.picked(|event| match event {
        Event::PermissionReply { tool, .. } => Some(format!("checked {tool}")),
        Event::ToolStart { name, .. } => Some(format!("started {name}")),
        _ => None,
    });
    let at = |what: &str| checked.iter().position(|step| step == what);
    assert!(at("checked Read") < at("started Read") && at("checked Read").is_some(), "{checked:?}");
    assert!(at("checked Bash").is_some() && at("started Bash").is_none(), "{checked:?}");
}

#[test]
fn perm_16_queue_12_an_answer_to_a_closed_request_enters_the_queue() {
    let played = stage(Mode::Default, false, &[], &[], &[]).play(|session| async move {
        let main = main_agent(&session);
        let worker = sub_agent(&main, AgentDefinition { permission_mode: Some(Mode::Default), ..kind("w") }, false);
        let asking = worker.clone();
        let decision = session.handle.spawn("ask", async move { use_of_bash(&asking).await });
        let asked = session.permissions.next_request().await;
        worker.abort.give();
        let stopped = decision.await.unwrap();
        assert!(session.permissions.open_requests().is_empty());
        let late = session.permissions.answer(&session.queue, asked.request, true);
        let again = session.permissions.answer(&session.queue, asked.request, false);
        (stopped, late, again, session.permissions.answer(&session.queue, 999_999, true))
    });
    let (stopped, late, again, never) = &played.value;
    assert!(matches!(stopped, Decision::Denied(words) if words.contains("until the agent stopped")));
    assert_eq!((late, again, never), (&Answered::Orphaned, &Answered::Orphaned, &Answered::Unknown));
    let queued = played.picked(|event| match event {
        Event::Enqueued { mode, priority, agent, source, .. } => Some((*mode, *priority, agent.clone(), *source)),
        _ => None,
    });
    assert_eq!(
        queued,
        [("orphaned-permission", "next", None, "permission"), ("orphaned-permission", "next", None, "permission")]
    );
}

#[test]
fn perm_17_routes_are_distinguished_in_the_log() {
    let played = stage(Mode::Default, false, &[], &[], &[]).play(|session| async move {
        let main = main_agent(&session);
        let named = sub_agent(&main, kind("named"), false);
        let bubbling = AgentDefinition { permission_mode: Some(Mode::Bubble), ..kind("bubbling") };
        let bubbling = sub_agent(&main, bubbling, false);
        for agent in [&main, &named, &bubbling] {
            verdict(agent, "Bash", "ls").await;
        }
        (named.agent.clone(), bubbling.agent.clone())
    });
    let (named, bubbling) = &played.value;
    let routes = played.picked(|event| match event {
        Event::PermissionRequest { agent, tool, route, .. } => Some((agent.to_string(), tool.to_string(), *route)),
        _ => None,
    });
    let expected = [("main", "local"), (named, "independent"), (bubbling, "bubble")];
    assert_eq!(routes, expected.map(|(agent, route)| (agent.to_owned(), "Bash".to_owned(), route)));
}

#[test]
fn perm_10_without_a_user_requests_are_denied_at_once() {
    let headless = |allow: &[&str]| {
        let mut stage = stage(Mode::Default, false, allow, &[], &[]);
        stage.opening.settings.interactive = false;
        stage
    };
    assert_eq!(of_main(headless(&[]), &[("Bash", "ls"), ("Read", "a")]), ["denied", "allowed"]);
    assert_eq!(of_worker(headless(&[]), Some(Mode::Bubble), &[("Bash", "ls")]), ["denied"]);
    assert_eq!(of_main(headless(&["Bash(ls)"]), &[("Bash", "ls")]), ["allowed"]);
}
