//! Pools: which agents get which tools, and how they are sent.

use forkcast_sim::agent::definition::{AgentDefinition, Definitions, Ranking, Source, Text};
use forkcast_sim::agent::permission::{Mode, Permissions, Rule, Rules};
use forkcast_sim::agent::settings::PartSizes;
use forkcast_sim::agent::tool::pool::why;
use forkcast_sim::agent::{Context, Event};
use serde_json::{Value, json};

use super::stage::{Played, Stage, ask, call, kind, main_agent, reply, results, said, says, sub_agent, uses};

const EVERY: [&str; 8] = ["Agent", "Bash", "Edit", "Glob", "Grep", "Read", "TaskCreate", "Write"];

fn names(context: &Context) -> Vec<&'static str> {
    let known = |name: &str| EVERY.into_iter().find(|known| *known == name).unwrap_or("another");
    context.pool().tools.iter().map(|tool| known(tool.name())).collect()
}

fn bytes(context: &Context) -> Vec<String> {
    context.pool().pieces.iter().map(|piece| piece.json().to_owned()).collect()
}

/// An agent type with allowed and disallowed tools.
fn with_tools(tools: &[&str], without: &[&str]) -> AgentDefinition {
    let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
    AgentDefinition { tools: Some(names(tools)), disallowed_tools: names(without), ..kind("worker") }
}

/// Names of the tools of an agent of this type, in foreground or background.
fn tools_of(definition: AgentDefinition, is_async: bool) -> Vec<&'static str> {
    Stage::new().play(|session| async move { names(&sub_agent(&main_agent(&session), definition, is_async)) }).value
}

/// The event of a pool: agent is main, mode, tools, dropped.
type Resolved = (bool, &'static str, usize, Vec<(String, &'static str)>);

fn resolved<T>(played: &Played<T>) -> Vec<Resolved> {
    played.picked(|event| match event {
        Event::ToolsResolved { agent, mode, tools, dropped } => {
            let dropped = dropped.iter().map(|(name, why)| (name.to_string(), *why)).collect();
            Some((&**agent == "main", *mode, tools.len(), dropped))
        }
        _ => None,
    })
}

#[test]
fn tools_01_tools_02_a_worker_has_the_sessions_tools_and_its_own_mode() {
    let played = Stage::new().play(|session| async move {
        let main = main_agent(&session);
        let worker = sub_agent(&main, kind("worker"), false);
        let planner = sub_agent(&main, AgentDefinition { permission_mode: Some(Mode::Default), ..kind("p") }, false);
        (names(&worker), worker.mode.get(), planner.mode.get(), session.permissions.mode.get())
    });
    assert_eq!(played.value, (EVERY.to_vec(), Mode::AcceptEdits, Mode::Default, Mode::Default));
    let told = resolved(&played);
    let expected = [(true, "default", 8, vec![]), (false, "acceptEdits", 8, vec![]), (false, "default", 8, vec![])];
    assert_eq!(told, expected);
}

#[test]
fn tools_03_a_parents_tools_do_not_limit_the_child() {
    let played = Stage::new().play(|session| async move {
        let parent = sub_agent(&main_agent(&session), with_tools(&["Read"], &[]), false);
        (names(&parent), names(&sub_agent(&parent, kind("other"), false)))
    });
    assert_eq!(played.value, (vec!["Read"], EVERY.to_vec()));
}

#[test]
fn tools_04_a_definitions_list_selects_and_orders_tools() {
    assert_eq!(tools_of(with_tools(&["Write", "Read", "Write", "Teleport"], &[]), false), ["Write", "Read"]);
    assert_eq!(tools_of(with_tools(&[], &[]), false), [""; 0]);
    let played = Stage::new().play(|session| async move {
        let worker = sub_agent(&main_agent(&session), with_tools(&["Read", "Teleport", "Bash"], &["Bash"]), false);
        ["Read", "Teleport", "Bash", "Edit", "Never"].map(|name| worker.pool().why_absent(name))
    });
    let expected = [None, Some(why::UNKNOWN), Some(why::DISALLOWED), Some(why::NOT_LISTED), Some(why::UNKNOWN)];
    assert_eq!(played.value, expected);
    assert!(resolved(&played)[1].3.contains(&("Teleport".to_owned(), "unknown")));
}

#[test]
fn tools_05_a_star_and_no_list_mean_all() {
    assert_eq!(tools_of(with_tools(&["*"], &[]), false), EVERY);
    assert_eq!(tools_of(kind("worker"), false), EVERY);
}

#[test]
fn tools_06_disallowed_tools_are_removed_from_allowed_ones() {
    let without = ["Agent", "Bash", "Edit", "Glob", "Grep", "TaskCreate"];
    assert_eq!(tools_of(with_tools(&["*"], &without), false), ["Read", "Write"]);
    assert_eq!(tools_of(with_tools(&["Read", "Bash"], &["Read"]), false), ["Bash"]);
    let text = r#"{"worker":{"description":"d","prompt":"p","tools":["Read","Bash"],"disallowedTools":["Bash"]}}"#;
    let text = Text { source: Source::Flag, path: "agents.json".into(), text: text.into() };
    let definitions = Definitions::gather(&[text], Ranking::default());
    assert_eq!(tools_of((*definitions.get("worker").expect("kept")).clone(), false), ["Read"]);
}

#[test]
fn tools_08_mode_and_background_matter_too_and_bytes_may_differ_from_the_parents() {
    let played = Stage::new().play(|session| async move {
        let main = main_agent(&session);
        let of = |definition, is_async| bytes(&sub_agent(&main, definition, is_async));
        let planning = AgentDefinition { permission_mode: Some(Mode::Plan), ..kind("worker") };
        let behind = names(&sub_agent(&main, kind("worker"), true));
        let planner = names(&sub_agent(&main, planning, false));
        let reordered = of(with_tools(&["Read", "Bash"], &[]), false);
        (bytes(&main), of(kind("worker"), false), of(kind("worker"), true), reordered, behind, planner)
    });
    let (main, equal, behind, reordered, names_behind, planner) = played.value;
    assert_eq!(main, equal);
    assert_ne!(main, behind);
    assert_eq!(reordered, [main[5].clone(), main[1].clone()]);
    assert_eq!(names_behind, ["Agent", "Bash", "Edit", "Glob", "Grep", "Read", "Write"]);
    assert_eq!(planner, ["Agent", "Bash", "Glob", "Grep", "Read", "TaskCreate"]);
}

#[test]
fn tools_12_a_call_cannot_add_tools_hooks_or_skills() {
    let extra = json!({ "description": "d", "prompt": "p", "subagent_type": "worker",
        "tools": ["Bash"], "hooks": [{ "name": "h" }], "skills": ["s"] });
    let text = r#"{"worker":{"description":"d","prompt":"p","tools":["Read"]}}"#;
    let text = Text { source: Source::Flag, path: "agents.json".into(), text: text.into() };
    let mut stage = Stage::new().says(vec![reply("worker", 0, &[says("done")])]);
    stage.opening.definitions = Definitions::gather(&[text], Ranking::default());
    let played = stage.play(|session| async move { said(&main_agent(&session), "Agent", extra).await });
    assert!(played.value.contains("done"), "{}", played.value);
    let tools = played.picked(|event| match event {
        Event::ToolsResolved { agent, tools, .. } if &**agent != "main" => Some(tools.clone()),
        _ => None,
    });
    assert_eq!(tools, [vec!["Read".into()]]);
    let added = |event: &Event| matches!(event, Event::Hook { .. } | Event::Skill { .. });
    assert!(!played.events.iter().any(|(_, event)| added(event)));
}

#[test]
fn tools_13_an_agent_that_has_the_agent_tool_delegates_further() {
    let task = |agent: &str| json!({ "description": "d", "prompt": "p", "subagent_type": agent });
    let rules = vec![
        reply("main", 0, &[uses("Agent", task("general-purpose"))]),
        reply("main", 1, &[says("told")]),
        reply("general-purpose", 0, &[uses("Agent", task("explore"))]),
        reply("general-purpose", 1, &[says("passed on")]),
        reply("explore", 0, &[uses("Agent", task("explore"))]),
        reply("explore", 1, &[says("found")]),
    ];
    let mut stage = Stage::new().says(rules);
    stage.opening.definitions = Definitions::gather(&[], Ranking::default());
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        ask(&main, "go").await;
        results(&main)
    });
    let depths = played.picked(|event| match event {
        Event::ContextCreated { depth, .. } => Some(*depth),
        _ => None,
    });
    assert_eq!(depths, [1, 2], "explore has no Agent tool and does not delegate");
    assert_eq!(played.value.len(), 1);
    let unknown = |event: &Event| matches!(event, Event::ToolEnd { outcome: "unknown_tool", .. }).then_some(());
    assert_eq!(played.picked(unknown).len(), 1);
}

#[test]
fn tools_14_verification_can_change_nothing() {
    let definitions = Definitions::gather(&[], Ranking::default());
    let of = |name: &str| (*definitions.get(name).expect("built in")).clone();
    assert_eq!(tools_of(of("verification"), false), ["Read", "Glob", "Grep", "Bash"]);
    for name in ["explore", "plan", "claude-code-guide"] {
        assert_eq!(tools_of(of(name), true), ["Read", "Glob", "Grep"], "{name}");
    }
    assert_eq!(tools_of(of("general-purpose"), false), EVERY);
}

#[test]
fn perm_13_a_denied_tool_is_in_no_pool() {
    let mut stage = Stage::new();
    let deny = vec![Rule::parse("Bash").unwrap(), Rule::parse("Edit(src/**)").unwrap()];
    stage.opening.permissions = Permissions::new(Mode::Default, false, Rules { deny, ..Rules::default() });
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let worker = sub_agent(&main, with_tools(&["Bash", "Edit"], &[]), false);
        (names(&main).contains(&"Bash"), names(&worker), worker.pool().why_absent("Bash"))
    });
    assert_eq!(played.value, (false, vec!["Edit"], Some(why::DENIED)));
    let main = (true, "default", 7, vec![("Bash".to_owned(), "denied_by_rule")]);
    assert_eq!(resolved(&played)[0], main);
}

#[test]
fn tools_are_sent_with_their_schemas_ordered_by_name() {
    let played = Stage::new().play(|session| async move { bytes(&main_agent(&session)) });
    let tools: Vec<Value> = played.value.iter().map(|piece| serde_json::from_str(piece).unwrap()).collect();
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), EVERY);
    for (piece, tool) in played.value.iter().zip(&tools) {
        assert!(piece.starts_with("{\"name\":"), "{piece}");
        assert!(tool["description"].as_str().unwrap().len() > 40, "{piece}");
        let schema = &tool["input_schema"];
        assert_eq!(schema["type"], "object");
        for required in schema["required"].as_array().unwrap() {
            assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{piece}");
        }
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string() && property["description"].is_string(), "{piece}: {name}");
        }
    }
}

#[test]
fn with_the_background_disabled_commands_cannot_use_it() {
    let mut stage = Stage::new();
    stage.opening.settings.variables.insert("DISABLE_BACKGROUND_TASKS".into(), "1".into());
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let refused = call(&main, "Bash", json!({ "command": "ls", "run_in_background": true })).await;
        (bytes(&main)[1].contains("background"), refused.unwrap_err().to_string())
    });
    let (shown, refused) = played.value;
    assert!(!shown && refused.contains("`run_in_background` is unknown"), "{refused}");
}

#[test]
fn declared_tokens_of_the_tools_add_up() {
    let mut stage = Stage::new();
    stage.opening.settings.sizes = Some(PartSizes { tools: Some(9_001), ..PartSizes::default() });
    let played = stage.play(|session| async move {
        main_agent(&session).pool().pieces.iter().map(|piece| piece.declared_tokens().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((played.value.len(), played.value.iter().sum::<u64>()), (8, 9_001));
}
