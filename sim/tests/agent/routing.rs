//! Which agent an Agent call means, and why a call is refused (AGENT).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::permission::{Rule, Rules};
use forkcast_sim::agent::spawn::input::{base_schema, full_schema, visible_schema};
use serde_json::{Value, json};

use super::clocked::{Played, Stage, blocks, call, calls, main_agent, says, spawn, text, use_tool, wait};

/// The message of a refused call.
fn refusal(stage: Stage, more: Value) -> String {
    let played = stage.play(|session| async move {
        let result = use_tool(&main_agent(&session), "Agent", input(more)).await;
        result.expect_err("a refusal").to_string()
    });
    let told = played.find(|event| match event {
        Event::Refused { why, .. } => Some(why.to_string()),
        _ => None,
    });
    assert_eq!(told.join("|"), played.value, "the sink gets it, too");
    assert_eq!(played.asked.len(), 0, "no agent takes its place");
    played.value
}

fn input(more: Value) -> Value {
    let mut input = json!({ "description": "count the files", "prompt": "How many files are there?" });
    if let (Value::Object(more), Some(input)) = (more, input.as_object_mut()) {
        input.extend(more);
    }
    input
}

/// One Agent call with this input, to an agent that answers at once.
fn one(stage: Stage, more: Value) -> Played<()> {
    let kinds = ["general-purpose", "explore", "reviewer"];
    let stage = kinds.into_iter().fold(stage, |stage, kind| stage.says(kind, vec![text("seven")]));
    stage.says("main", vec![call("Agent", input(more)), text("done")]).play(|session| async move {
        says(&main_agent(&session), "go").await;
        wait(&session, 1_000).await;
    })
}

/// Type, model, background and reason of every call.
fn routes(played: &Played<()>) -> Vec<(Rc<str>, Rc<str>, bool, &'static str)> {
    played.find(|event| match event {
        Event::Routed { agent_type, model, background, why, .. } => {
            Some((agent_type.clone(), model.clone(), *background, *why))
        }
        _ => None,
    })
}

fn fields(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn agent_01_agent_02_the_child_reads_the_prompt_but_never_the_description() {
    let played = one(Stage::new(), json!({}));
    let child = played.asked_by("general-purpose");
    let said: Vec<String> = blocks(child[0]).iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(said.last().unwrap(), "How many files are there?");
    let bytes: String = child[0].draft.messages.iter().flat_map(|m| &m.content).map(|piece| piece.json()).collect();
    let system: String = child[0].draft.system.iter().map(|piece| piece.json()).collect();
    assert!(!bytes.contains("count the files") && !system.contains("count the files"));
    for field in ["description", "prompt"] {
        let mut less = input(json!({}));
        less.as_object_mut().unwrap().remove(field);
        let played = Stage::new().play(|session| async move {
            use_tool(&main_agent(&session), "Agent", less).await.expect_err("a refusal").to_string()
        });
        assert_eq!(played.value, format!("the input of Agent has no `{field}`, expected a string"));
    }
}

#[test]
fn agent_03_an_unknown_type_is_an_error_that_lists_the_others() {
    let words = refusal(Stage::new().agent("reviewer", ""), json!({ "subagent_type": "fork" }));
    assert!(words.starts_with("there is no agent type `fork`; available: "), "{words}");
    assert!(words.contains("`general-purpose`") && words.contains("`reviewer`"), "{words}");
}

#[test]
fn agent_03_a_denied_type_is_an_error_and_is_not_listed() {
    let denied = || {
        let mut stage = Stage::new().agent("reviewer", "");
        stage.rules = Rules { deny: vec![Rule::parse("Agent(reviewer)").unwrap()], ..Rules::default() };
        stage
    };
    assert_eq!(
        refusal(denied(), json!({ "subagent_type": "reviewer" })),
        "agent type `reviewer` is denied by a permission rule"
    );
    assert!(!refusal(denied(), json!({ "subagent_type": "x" })).contains("reviewer"));
}

#[test]
fn agent_04_agent_16_the_model_is_the_calls_then_the_definitions_then_the_parents() {
    let model = |stage: Stage, more: Value| {
        let played = one(stage, more);
        let child = played.asked.iter().find(|question| &*question.agent_type != "main").unwrap();
        assert_eq!(routes(&played)[0].1, child.draft.model);
        child.draft.model.to_string()
    };
    let defined = || Stage::new().agent("reviewer", "model: haiku");
    assert_eq!(model(defined(), json!({ "subagent_type": "reviewer", "model": "sonnet" })), "claude-sonnet-5");
    assert_eq!(model(defined(), json!({ "subagent_type": "reviewer" })), "claude-haiku-4-5");
    let parents = Stage::new().set(|settings| settings.model = "claude-of-the-parent".into());
    assert_eq!(model(parents, json!({})), "claude-of-the-parent");
    let inherits = Stage::new().agent("reviewer", "model: inherit").set(|settings| settings.model = "mine".into());
    assert_eq!(model(inherits, json!({ "subagent_type": "reviewer" })), "mine");
    assert_eq!(
        refusal(Stage::new(), json!({ "model": "gpt" })),
        "`model` of Agent is \"gpt\", expected one of `sonnet`, `opus`, `haiku`"
    );
}

#[test]
fn agent_05_agent_17_a_call_or_a_definition_selects_the_background_and_false_cancels_nothing() {
    let background = |stage: Stage, more: Value| routes(&one(stage, more))[0].2;
    let defined = || Stage::new().agent("reviewer", "background: true");
    assert!(!background(Stage::new(), json!({})));
    assert!(background(Stage::new(), json!({ "run_in_background": true })));
    assert!(background(defined(), json!({ "subagent_type": "reviewer", "run_in_background": false })));
    let off = |settings: &mut forkcast_sim::agent::Settings| {
        settings.variables.insert("DISABLE_BACKGROUND_TASKS".into(), "1".into());
    };
    assert!(!background(defined().set(off), json!({ "subagent_type": "reviewer", "run_in_background": true })));
}

#[test]
fn agent_06_agent_26_a_background_agent_has_its_name_and_the_latest_wins() {
    let named = |behind| json!({ "name": "counter", "run_in_background": behind });
    let played = one(Stage::new(), named(true));
    assert_eq!(played.session.tasks.names.get("counter"), Some(played.agents()[0].clone()));
    let played = one(Stage::new(), named(false));
    assert_eq!(played.session.tasks.names.get("counter"), None, "a foreground agent cannot be addressed");
    let two = calls(vec![("Agent", input(named(true))), ("Agent", input(named(true)))]);
    let played = Stage::new().says("main", vec![two, text("done")]).says("general-purpose", vec![text("seven")]).play(
        |session| async move {
            says(&main_agent(&session), "go").await;
            wait(&session, 10).await;
        },
    );
    let agents = played.agents();
    let replaced = played.find(|event| match event {
        Event::Named { agent, replaced, .. } => Some((agent.clone(), replaced.clone())),
        _ => None,
    });
    assert_eq!(replaced, [(agents[0].clone(), None), (agents[1].clone(), Some(agents[0].clone()))]);
    assert_eq!(played.session.tasks.names.get("counter"), Some(agents[1].clone()));
}

#[test]
fn agent_08_the_permission_mode_of_a_call_has_no_effect() {
    let modes = |more| {
        one(Stage::new(), more).find(|event| match event {
            Event::ToolsResolved { agent, mode, .. } if &**agent != "main" => Some(*mode),
            _ => None,
        })
    };
    assert_eq!(modes(json!({ "mode": "plan" })), ["acceptEdits"]);
    assert_eq!(modes(json!({})), ["acceptEdits"]);
}

#[test]
fn agent_10_the_directory_of_a_call_is_the_childs() {
    let cwds = |event: &Event| match event {
        Event::ContextCreated { cwd, .. } => Some(cwd.to_string()),
        _ => None,
    };
    assert_eq!(one(Stage::new(), json!({ "cwd": "/repo/app" })).find(cwds), ["/repo/app"]);
    assert_eq!(one(Stage::new(), json!({})).find(cwds), ["/repo"]);
    let words = refusal(Stage::new(), json!({ "cwd": "app" }));
    assert_eq!(words, "agent type `general-purpose`: `cwd` must be absolute");
}

#[test]
fn agent_11_a_call_may_have_fields_that_the_schema_hides() {
    let played =
        Stage::new().play(|session| async move { (full_schema(&session.settings), visible_schema(&session.settings)) });
    let (full, visible) = played.value;
    assert_eq!(fields(&base_schema()), ["description", "model", "prompt", "run_in_background", "subagent_type"]);
    let all = [
        "cwd",
        "description",
        "isolation",
        "mode",
        "model",
        "name",
        "prompt",
        "run_in_background",
        "subagent_type",
        "team_name",
    ];
    assert_eq!(fields(&full), all);
    assert!(!fields(&visible).contains(&"cwd"));
    let hidden = one(Stage::new(), json!({ "cwd": "/hidden", "tools": ["Nothing"], "hooks": [] }));
    assert_eq!(hidden.count(|event| matches!(event, Event::ContextCreated { cwd, .. } if &**cwd == "/hidden")), 1);
    let wire = hidden.asked_by("main")[0].draft.tools.iter().find(|tool| tool.json().contains("\"Agent\"")).cloned();
    let wire: Value = serde_json::from_str(wire.unwrap().json()).unwrap();
    assert_eq!(wire["input_schema"], visible);
}

#[test]
fn agent_12_a_disabled_background_is_not_offered() {
    let shown = |stage: Stage| {
        let schema = stage.play(|session| async move { visible_schema(&session.settings) }).value;
        fields(&schema).contains(&"run_in_background")
    };
    assert!(shown(Stage::new()));
    let variable = |value: &str| {
        let value = value.to_owned();
        Stage::new().set(|settings| {
            settings.variables.insert("DISABLE_BACKGROUND_TASKS".into(), value);
        })
    };
    assert!(!shown(variable("1")) && !shown(variable("true")));
    assert!(shown(variable("0")) && shown(variable("")));
}

#[test]
fn agent_13_the_directory_is_only_offered_with_its_feature() {
    let feature = Stage::new().set(|settings| {
        settings.features.insert("KAIROS".into());
    });
    let schema = feature.play(|session| async move { visible_schema(&session.settings) }).value;
    assert!(fields(&schema).contains(&"cwd"));
}

#[test]
fn agent_14_the_public_build_has_no_remote_isolation() {
    let words = refusal(Stage::new(), json!({ "isolation": "remote" }));
    assert_eq!(words, "`isolation` of Agent is \"remote\", expected one of `worktree`");
}

#[test]
fn agent_18_the_calls_isolation_overrides_the_definitions() {
    let defined = || Stage::new().agent("reviewer", "isolation: remote");
    let words = refusal(defined(), json!({ "subagent_type": "reviewer" }));
    assert!(words.contains("remote agents"), "{words}");
    let without_git = defined().set(|settings| settings.environment.git = false);
    let words = refusal(without_git, json!({ "subagent_type": "reviewer", "isolation": "worktree" }));
    assert!(words.contains("no git repository"), "{words}");
}

#[test]
fn agent_19_agent_20_mode_and_tools_are_the_definitions() {
    let stage = Stage::new().agent("reviewer", "permissionMode: plan\ntools: Read, Grep");
    let played = one(stage, json!({ "subagent_type": "reviewer", "mode": "bypassPermissions", "tools": ["Bash"] }));
    let resolved = played.find(|event| match event {
        Event::ToolsResolved { agent, mode, tools, .. } if &**agent != "main" => Some((*mode, tools.join(" "))),
        _ => None,
    });
    assert_eq!(resolved, [("plan", "Read Grep".to_owned())]);
}

#[test]
fn agent_21_agent_22_agent_23_a_type_selects_that_agent_and_no_type_the_general_one_or_a_fork() {
    let route = |stage: Stage, more| routes(&one(stage, more)).remove(0);
    let (agent_type, .., why) = route(Stage::new(), json!({ "subagent_type": "explore" }));
    assert_eq!((&*agent_type, why), ("explore", "subagent_type"));
    let (agent_type, .., why) = route(Stage::new(), json!({}));
    assert_eq!((&*agent_type, why), ("general-purpose", "feature_off"));
    let given = Stage::new().set(|settings| {
        settings.features.insert("FORK_SUBAGENT".into());
    });
    let (agent_type, .., why) = route(given, json!({}));
    assert_eq!((&*agent_type, why), ("fork", "gate_open"));
}

#[test]
fn agent_29_life_01_everything_is_decided_before_the_agent_runs() {
    let played = one(Stage::new(), json!({}));
    let id = played.agents()[0].clone();
    let places = [
        played.place(|event| matches!(event, Event::ToolsResolved { agent, .. } if *agent == id)),
        played.place(|event| matches!(event, Event::Routed { .. })),
        played.place(|event| matches!(event, Event::ContextCreated { agent, .. } if *agent == id)),
        played.place(|event| matches!(event, Event::TaskState { state: "running", .. })),
        played.place(|event| matches!(event, Event::AgentStarted { .. })),
        played.place(|event| matches!(event, Event::QueryEnded { agent, .. } if *agent == id)),
        played.place(|event| matches!(event, Event::TaskState { state: "completed", .. })),
        played.place(|event| matches!(event, Event::AgentResult { .. })),
        played.place(|event| matches!(event, Event::Cleanup { step: "clear_dump_state", .. })),
    ];
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn agent_33_several_calls_start_in_order_and_run_concurrently() {
    let behind = |prompt| {
        let more = json!({ "run_in_background": true, "prompt": prompt });
        ("Agent", input(more))
    };
    let played = Stage::new()
        .says("main", vec![calls(vec![behind("one"), behind("two"), behind("three")]), text("done")])
        .says("general-purpose", vec![text("seven").after(5_000)])
        .play(|session| async move {
            says(&main_agent(&session), "go").await;
            wait(&session, 6_000).await;
        });
    let started = played.find(|event| match event {
        Event::Routed { tool_use, .. } => Some(tool_use.to_string()),
        _ => None,
    });
    assert_eq!(started, ["main-0-1", "main-0-2", "main-0-3"]);
    assert_eq!(played.at(|event| matches!(event, Event::AgentResult { .. })), 0);
    let ends: Vec<u64> = played
        .log
        .iter()
        .filter(|(_, event)| matches!(event, Event::Notified { status: "completed", .. }))
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(ends, [5_000; 3], "at the same time, and a notification for each");
}

#[test]
fn agent_03_agents_nest_as_deep_as_the_settings_say() {
    let deep = || {
        Stage::new()
            .says("main", vec![spawn("outer", "go on"), text("done")])
            .says("outer", vec![spawn("inner", "go on"), text("outer is done")])
            .says("inner", vec![text("inner is done")])
            .agent("outer", "")
            .agent("inner", "")
    };
    let played = deep().play(|session| async move { drop(says(&main_agent(&session), "go").await) });
    let depths = played.find(|event| match event {
        Event::ContextCreated { depth, .. } => Some(*depth),
        _ => None,
    });
    assert_eq!(depths, [1, 2]);
    let limited = deep().set(|settings| settings.max_depth = Some(1));
    let played = limited.play(|session| async move { drop(says(&main_agent(&session), "go").await) });
    assert_eq!(played.agents().len(), 1);
    assert_eq!(played.count(|event| matches!(event, Event::Refused { .. })), 1);
}

#[test]
fn agent_30_from_the_call_to_the_result_every_step_comes_in_its_order() {
    let played = one(Stage::new(), json!({}));
    let id = played.agents()[0].clone();
    let of_main = |agent: &Rc<str>| &**agent == "main";
    let places = [
        played.place(|event| matches!(event, Event::Usage { agent, turn: 0, .. } if of_main(agent))),
        played.place(|event| matches!(event, Event::PermissionReply { agent, .. } if of_main(agent))),
        played.place(|event| matches!(event, Event::ToolStart { agent, during_stream: false, .. } if of_main(agent))),
        played.place(|event| matches!(event, Event::Routed { route: "named", .. })),
        played.place(|event| matches!(event, Event::AgentStarted { .. })),
        played.place(|event| matches!(event, Event::QueryEnded { agent, .. } if *agent == id)),
        played.place(|event| matches!(event, Event::AgentResult { .. })),
        played.place(|event| matches!(event, Event::ToolEnd { agent, .. } if of_main(agent))),
        played.place(|event| matches!(event, Event::RequestSent { agent, turn: 1, .. } if of_main(agent))),
    ];
    assert!(places.is_sorted(), "{places:?}");
    let last = blocks(played.asked_by("main")[1]);
    let kinds: Vec<&str> = last[last.len() - 2..].iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_use", "tool_result"]);
}
