//! The built-in agent types, and how definitions affect their runs (ADEF).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::{Definitions, Source};
use forkcast_sim::agent::tool::Pool;

use super::clocked::{Stage, main_agent, says, spawn, text};

/// The tools of a built-in type as sent, after the session's own filter.
fn tools(agent_type: &'static str) -> Vec<String> {
    let played = Stage::new().play(move |session| async move {
        let definition = session.definitions.get(agent_type).expect("a built-in kind");
        assert_eq!((definition.source, definition.model.as_deref()), (Source::BuiltIn, Some("inherit")));
        let pool = Pool::named(&session, &"agent-1".into(), &definition, false);
        pool.tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    });
    played.value
}

#[test]
fn adef_18_general_purpose_has_every_tool() {
    let every = Stage::new().play(|session| async move {
        main_agent(&session).pool().tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(tools("general-purpose"), every.value);
}

#[test]
fn adef_19_adef_20_plan_and_explore_look_and_search() {
    assert_eq!(tools("plan"), ["Read", "Glob", "Grep"]);
    assert_eq!(tools("explore"), ["Read", "Glob", "Grep"]);
}

#[test]
fn adef_21_verification_runs_commands_and_changes_nothing() {
    assert_eq!(tools("verification"), ["Read", "Glob", "Grep", "Bash"]);
    let definitions = Definitions::default();
    let words = definitions.get("verification").unwrap().tools_in_words();
    assert_eq!(words, "Read, Glob, Grep, Bash");
}

#[test]
fn adef_22_the_guide_reads_and_asks_the_web() {
    assert_eq!(tools("claude-code-guide"), ["Read", "Glob", "Grep"], "this runtime has no web");
    let guide = Definitions::default().get("claude-code-guide").unwrap();
    assert_eq!(guide.tools_in_words(), "Read, Glob, Grep, WebFetch, WebSearch");
}

#[test]
fn adef_23_five_types_are_built_in_and_the_fork_is_not_among_them() {
    let definitions = Definitions::default();
    let names: Vec<&str> = definitions.all().map(|definition| &*definition.agent_type).collect();
    assert_eq!(names, ["claude-code-guide", "explore", "general-purpose", "plan", "verification"]);
    let one_shot: Vec<&str> =
        definitions.all().filter(|definition| definition.one_shot).map(|definition| &*definition.agent_type).collect();
    assert_eq!(one_shot, ["explore", "plan"], "G29");
}

#[test]
fn adef_14_capitalised_built_in_names_mean_the_same_types() {
    let definitions = Definitions::default();
    for (alias, name) in [("Explore", "explore"), ("Plan", "plan")] {
        assert!(Rc::ptr_eq(&definitions.get(alias).unwrap(), &definitions.get(name).unwrap()));
    }
    let replaced = Stage::new()
        .agent("Explore", "")
        .play(|session| async move { session.definitions.get("explore").unwrap().source });
    assert_eq!(replaced.value, Source::Project, "a file that defines Explore defines explore");
}

#[test]
fn adef_02_adef_04_adef_05_adef_06_adef_07_fields_of_a_definition_reach_its_runs() {
    let played = Stage::new()
        .agent("worker", "model: haiku\neffort: low\ntools: [Read]")
        .agent("twin", "model: inherit\nbackground: true\npermissionMode: plan")
        .says("main", vec![spawn("worker", "go"), spawn("twin", "go"), text("done")])
        .says("worker", vec![text("done")])
        .says("twin", vec![text("done")])
        .play(|session| async move {
            says(&main_agent(&session), "hello").await;
            super::clocked::wait(&session, 10).await;
        });
    let worker = played.asked_by("worker")[0];
    assert_eq!(&*worker.draft.model, "claude-haiku-4-5");
    assert!(worker.draft.parameters.contains(&("output_config".into(), "{\"effort\":\"low\"}".into())));
    assert!(worker.draft.system[1].json().contains("You are worker."));
    let twin = played.asked_by("twin")[0];
    assert_eq!(&*twin.draft.model, &*played.asked_by("main")[0].draft.model);
    assert!(twin.draft.parameters.contains(&("output_config".into(), "{\"effort\":\"medium\"}".into())));
    let modes = played.find(|event| match event {
        Event::ToolsResolved { mode, agent, .. } if &**agent != "main" => Some(*mode),
        _ => None,
    });
    assert_eq!(modes, ["acceptEdits", "plan"]);
    let behind = played.find(|event| match event {
        Event::Routed { background, .. } => Some(*background),
        _ => None,
    });
    assert_eq!(behind, [false, true]);
}

#[test]
fn adef_04_an_inherited_model_is_the_callers() {
    let played = Stage::new()
        .agent("upper", "model: haiku")
        .agent("twin", "model: inherit")
        .says("main", vec![spawn("upper", "go"), text("done")])
        .says("upper", vec![spawn("twin", "go"), text("done")])
        .says("twin", vec![text("done")])
        .play(|session| async move { drop(says(&main_agent(&session), "hello").await) });
    assert_ne!(&*played.asked_by("main")[0].draft.model, "claude-haiku-4-5");
    assert_eq!(&*played.asked_by("twin")[0].draft.model, "claude-haiku-4-5", "the parent's, not the session's");
}

#[test]
fn adef_08_the_calls_isolation_overrides_the_definitions() {
    let said = |input: serde_json::Value| {
        let stage = Stage::new().agent("apart", "isolation: worktree").set(|settings| {
            settings.internal_build = true;
            settings.environment.git = false;
        });
        let played = stage.play(|session| async move {
            let result = super::clocked::use_tool(&main_agent(&session), "Agent", input).await;
            result.map_or_else(|error| error.to_string(), |outcome| outcome.content.to_string())
        });
        played.value
    };
    let call = |isolation: serde_json::Value| serde_json::json!({ "description": "a", "prompt": "b", "subagent_type": "apart", "isolation": isolation });
    assert!(said(call(serde_json::Value::Null)).contains("no git repository"));
    assert!(said(call("remote".into())).contains("runs on another machine"));
}
