//! Which agent a call of the Agent tool means, and why one is refused (AGENT).

use forkcast_sim::agent::Event;
use serde_json::{Value, json};

use crate::clocked::{Stage, main_agent, use_tool};

/// The words with which a call is refused.
fn refusal(stage: Stage, input: Value) -> String {
    let played = stage.play(|session| async move {
        let result = use_tool(&main_agent(&session), "Agent", input).await;
        result.expect_err("a refusal").to_string()
    });
    let told = played.find(|event| match event {
        Event::Refused { why, .. } => Some(why.to_string()),
        _ => None,
    });
    assert_eq!(told, [played.value.clone()], "the watcher is told, too");
    assert_eq!(played.asked.len(), 0, "no agent takes its place");
    played.value
}

fn input(more: Value) -> Value {
    let mut input = json!({ "description": "count the files", "prompt": "How many files are there?" });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

#[test]
fn agent_14_the_public_build_knows_no_other_machine() {
    let words = refusal(Stage::new(), input(json!({ "isolation": "remote" })));
    assert_eq!(words, "`isolation` of Agent is \"remote\", expected one of `worktree`");
    let internal = Stage::new().set(|settings| settings.internal_build = true);
    assert!(refusal(internal, input(json!({ "isolation": "remote" }))).contains("remote agents are not part"));
}
