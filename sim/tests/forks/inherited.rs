//! What a fork inherits from its parent (FORK-08..19, TOOLS-09..11).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::AgentDefinition;
use forkcast_sim::agent::permission::Mode;
use forkcast_sim::agent::settings::Fragment;
use forkcast_sim::agent::spawn::fork::{self, Ablation};
use forkcast_sim::simulation::Does;
use serde_json::json;

use super::scene::{Played, Scene, agent, fork, system, text, tool, tools};

fn two() -> Scene {
    Scene::new(vec![text("Two."), fork("one"), fork("two")])
}

/// A flag that the prompt shows flips while the forking message streams.
fn flipping() -> Scene {
    let fragment = Fragment { flag: "tip".into(), before_divider: true, text: "A tip of the day.".into() };
    two()
        .for_ms(60_000)
        .with(|setup| setup.settings.fragments = vec![fragment])
        .act(30_000, Does::Flips([("tip".to_owned(), true)].into()))
}

fn rendered(played: &Played) -> Vec<String> {
    played.found(|event| match event {
        Event::PromptRendered { agent, .. } => Some(agent.to_string()),
        _ => None,
    })
}

#[test]
fn fork_14_the_prompt_of_its_definition_is_empty() {
    assert_eq!(&*fork::definition().prompt, "");
}

#[test]
fn fork_08_fork_09_fork_10_fork_12_a_fork_has_its_own_type_all_tools_two_hundred_turns_and_bubble_mode() {
    let definition: AgentDefinition = fork::definition();
    assert_eq!((&*definition.agent_type, definition.max_turns), ("fork", Some(200)));
    assert_eq!(definition.tools.as_deref(), Some(&["*".into()][..]));
    assert_eq!(definition.permission_mode, Some(Mode::Bubble));
    let played = two().play();
    let turns = played.found(|event| match event {
        Event::ContextCreated { max_turns, .. } => Some(*max_turns),
        _ => None,
    });
    assert_eq!(turns, [Some(200), Some(200)]);
}

#[test]
fn fork_10_after_two_hundred_turns_a_fork_ends() {
    let mut scene = Scene::new(vec![fork("one")]);
    for _ in 0..201 {
        scene = scene.says("fork", vec![tool("Read", json!({ "file_path": "/repo/a.rs" }))]);
    }
    let played = scene.play();
    assert_eq!(played.requests("fork").len(), 200);
}

#[test]
fn fork_11_agent_15_a_forks_model_is_its_parents_for_any_call() {
    let spelled = "claude-opus-5-5-20260901";
    let scene = Scene::new(vec![agent(json!({ "model": "haiku" })), fork("two")]);
    let played = scene.with(|setup| setup.settings.model = spelled.into()).play();
    for fork in [0, 1] {
        assert_eq!(&*played.first(fork).model, spelled);
    }
}

#[test]
fn fork_13_a_fork_is_built_in_and_no_list_shows_it() {
    let played = two().play();
    assert_eq!(fork::definition().source.name(), "built-in");
    assert!(played.0.session.as_ref().unwrap().definitions.get("fork").is_none());
    let shown = played.requests("main")[0].tools.iter().map(|tool| tool.json().to_owned()).collect::<String>();
    assert!(shown.contains("explore") && !shown.contains("- fork:") && !shown.contains("- `fork`"), "{shown}");
    let refused = Scene::new(vec![agent(json!({ "subagent_type": "fork" }))]).play();
    assert!(refused.told()[0].contains("there is no agent type `fork`"), "{:?}", refused.told());
}

#[test]
fn fork_14_fork_15_cache_07_cache_25_no_fork_renders_a_prompt_even_if_a_flag_flips() {
    let played = flipping().play();
    assert!(rendered(&played).iter().all(|agent| agent == "main"), "{:?}", rendered(&played));
    let before = played.requests("main")[0];
    for fork in [0, 1] {
        assert!(Rc::ptr_eq(&played.first(fork).system, &before.system), "by reference");
    }
    let behind = played.requests("main")[1];
    assert!(system(behind).contains("A tip of the day."), "the parent itself renders again");
}

#[test]
fn cache_06_cache_19_rendering_again_after_a_flip_gives_another_prompt() {
    let played = flipping().without(Ablation::ReRender).play();
    assert!(system(played.first(0)).contains("A tip of the day."));
    assert!(rendered(&played).iter().any(|agent| agent != "main"));
    let lines = played.lines("fork");
    let (found, usage) = (&lines[0].explanation.as_ref().unwrap().differences[0], lines[0].predicted.unwrap());
    assert_eq!((found.cause.word(), found.level.name()), ("system_changed", "system"));
    let threaded = flipping().play().lines("fork")[0].predicted.unwrap();
    assert!(usage.cache_read_input_tokens < threaded.cache_read_input_tokens, "{usage:?} {threaded:?}");
}

#[test]
fn fork_16_tools_09_cache_08_cache_26_the_parents_tools_are_passed_by_reference_and_not_filtered() {
    let played = two().play();
    let parents = &played.requests("main")[0].tools;
    for fork in [0, 1] {
        assert!(Rc::ptr_eq(&played.first(fork).tools, parents));
    }
    let resolved = played.found(|event| match event {
        Event::ToolsResolved { agent, .. } => Some(agent.to_string()),
        _ => None,
    });
    assert_eq!(resolved, ["main"], "no pool was put together for a fork");
}

#[test]
fn tools_10_named_agents_never_share_their_parents_pool() {
    let played = Scene::new(vec![agent(json!({ "subagent_type": "general-purpose" })), fork("two")]).play();
    let (parents, named) = (&played.requests("main")[0].tools, &played.requests("general-purpose")[0].tools);
    assert!(!Rc::ptr_eq(parents, named));
    assert!(Rc::ptr_eq(parents, &played.first(0).tools));
}

#[test]
fn fork_17_fork_19_cache_09_the_history_is_the_parents_message_by_message() {
    let played = two().play();
    let parents = &played.requests("main")[0].messages;
    for fork in [0, 1] {
        let own = &played.first(fork).messages;
        assert_eq!(own.len(), parents.len() + 2);
        assert!(own.iter().zip(parents).all(|(own, parents)| Rc::ptr_eq(own, parents)), "by reference");
    }
}

#[test]
fn fork_18_cache_12_thinking_and_effort_are_the_parents() {
    let thinking = "{\"type\":\"enabled\",\"budget_tokens\":4096}";
    let played = two().with(|setup| setup.settings.thinking = Some(thinking.into())).play();
    let before = played.requests("main")[0];
    for fork in [0, 1] {
        assert_eq!(played.first(fork).parameters, before.parameters);
        assert!(played.first(fork).parameters.iter().any(|(key, value)| key == "thinking" && value == thinking));
    }
}

#[test]
fn fork_12_perm_12_a_forks_requests_for_permission_rise_to_the_terminal() {
    let scene = Scene::new(vec![fork("one")]).says("fork", vec![tool("Bash", json!({ "command": "rm a" }))]);
    let played = scene.act(1, Does::Answers { allow: false, tool: None }).play();
    let routes = played.found(|event| match event {
        Event::PermissionRequest { route, agent, .. } => Some((*route, agent.to_string())),
        _ => None,
    });
    assert_eq!(routes, [("bubble", played.forks()[0].to_string())]);
}

#[test]
fn diag_03_a_missing_tool_is_reported_with_its_reason() {
    let calls = || ["Mystery", "mcp__git__log"].map(|name| tool(name, json!({}))).to_vec();
    let scene = Scene::new(vec![fork("one"), agent(json!({ "subagent_type": "explore" }))]);
    let edit = tool("Edit", json!({ "file_path": "/repo/a.rs", "old_string": "a", "new_string": "b" }));
    let played = scene.says("fork", calls()).says("explore", vec![edit]).play();
    let absent = played.found(|event| match event {
        Event::ToolAbsent { name, why, exact, .. } => Some((name.to_string(), *why, *exact)),
        _ => None,
    });
    let mut absent = absent;
    absent.sort();
    let expected =
        [("Edit", "not_listed", false), ("Mystery", "unknown", true), ("mcp__git__log", "server_not_connected", true)];
    assert_eq!(absent, expected.map(|(name, why, exact)| (name.to_owned(), why, exact)));
    assert!(tools(played.first(0)).contains(&"Edit".to_owned()));
}

#[test]
fn diag_04_an_unrequested_mode_is_reported_with_its_reason() {
    let named = agent(json!({ "subagent_type": "explore", "mode": "plan" }));
    let played = Scene::new(vec![fork("one"), named]).play();
    let modes = played.found(|event| match event {
        Event::ModeTold { definition, call, mode, why, .. } => Some((*definition, *call, *mode, *why)),
        _ => None,
    });
    let expected =
        [(Some("bubble"), None, "bubble", "forks_bubble"), (None, Some("plan"), "acceptEdits", "teammates_only")];
    assert_eq!(modes, expected);
}
