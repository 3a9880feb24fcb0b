//! The result of an Agent call (RESULT).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::spawn::result::{AsyncLaunched, Completed, Data, RemoteLaunched, Spent, TeammateSpawned};
use serde_json::{Value, json};

use super::background::all_done;
use super::clocked::{Played, Stage, TOKENS, call, main_agent, says, spawn, text};

/// The result that the main agent reads from a call to an agent of this type, which uses two tools and gives three
/// texts.
fn result(stage: Stage, kind: &str) -> (String, Played<()>) {
    let glob = || call("Glob", json!({ "pattern": "*" }));
    let played = stage
        .says("main", vec![spawn(kind, "look round"), text("done")])
        .says(kind, vec![glob().saying("one").after(500), glob().saying("two").after(500), text("three").after(250)])
        .play(|session| async move {
            says(&main_agent(&session), "go").await;
            all_done(&session).await;
        });
    (played.results()[0]["content"].as_str().unwrap().to_owned(), played)
}

fn completed() -> Data {
    Data::Completed(Completed {
        content: "three".into(),
        agent_id: "agent-1".into(),
        total_tokens: 7,
        total_tool_use_count: 2,
        total_duration_ms: 1_250,
        usage: Spent { input_tokens: 4, output_tokens: 3, ..Spent::default() },
        worktree: None,
    })
}

fn launched(can_read_output_file: bool) -> Data {
    Data::AsyncLaunched(AsyncLaunched {
        agent_id: "agent-1".into(),
        description: "look round".into(),
        prompt: "Look round.".into(),
        output_file: "/tmp/agent-1.output".into(),
        can_read_output_file,
    })
}

/// Keys of an object, in order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// JSON Schema of the data (`outputSchema`, RESULT-01).
fn output_schema() -> Value {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer", "minimum": 0 });
    let object = |status: &str, mut properties: Value| {
        properties["status"] = json!({ "const": status });
        let required: Vec<String> =
            properties.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    };
    let completed = json!({ "content": text, "agentId": text, "totalTokens": count, "totalToolUseCount": count,
        "totalDurationMs": count, "usage": { "type": "object" } });
    let optional = json!({ "worktree": text });
    let launched = json!({ "agentId": text, "description": text, "prompt": text, "outputFile": text,
        "canReadOutputFile": { "type": "boolean" } });
    let mut completed = object("completed", completed);
    if let (Some(all), Value::Object(more)) =
        (completed.pointer_mut("/properties").and_then(Value::as_object_mut), optional)
    {
        all.extend(more);
    }
    let spawned = json!({ "teammate_id": text, "name": text, "team_name": text });
    let remote = json!({ "taskId": text, "sessionUrl": text, "outputFile": text, "description": text });
    let others = [("async_launched", launched), ("teammate_spawned", spawned), ("remote_launched", remote)];
    let others = others.map(|(status, fields)| object(status, fields));
    json!({ "oneOf": std::iter::once(completed).chain(others).collect::<Vec<_>>() })
}

#[test]
fn result_01_result_02_the_data_have_a_status_and_a_schema_and_become_a_text() {
    let schema = output_schema();
    let Data::Completed(completed) = completed() else { panic!("it is complete") };
    let completed = Data::Completed(Completed { worktree: Some("/repo/.claude/worktrees/a".into()), ..completed });
    let teammate = Data::TeammateSpawned(TeammateSpawned {
        teammate_id: "agent-1".into(),
        name: "ina".into(),
        team_name: "crew".into(),
    });
    let remote = Data::RemoteLaunched(RemoteLaunched {
        task_id: "remote-1".into(),
        session_url: "https://remote.invalid/sessions/remote-1".into(),
        output_file: "/tmp/remote-1.output".into(),
        description: "build it".into(),
    });
    for (at, data) in [completed, launched(true), teammate, remote].into_iter().enumerate() {
        let json = serde_json::to_value(&data).unwrap();
        assert_eq!(json["status"], data.status());
        let described = &schema["oneOf"][at];
        assert_eq!(described["properties"]["status"]["const"], data.status());
        assert_eq!(keys(&described["properties"]), keys(&json), "no field is missing in the schema");
        assert!(!data.outcome(false).is_error);
    }
}

#[test]
fn result_03_a_completed_run_reports_content_tokens_and_duration() {
    let json = serde_json::to_value(completed()).unwrap();
    let fields = ["agentId", "content", "status", "totalDurationMs", "totalTokens", "totalToolUseCount", "usage"];
    assert_eq!(keys(&json), fields);
    assert_eq!(json["usage"]["output_tokens"], 3);
}

#[test]
fn result_04_a_launched_run_says_where_its_output_is_and_to_wait() {
    let json = serde_json::to_value(launched(true)).unwrap();
    assert_eq!(keys(&json), ["agentId", "canReadOutputFile", "description", "outputFile", "prompt", "status"]);
    let words = launched(true).outcome(false).content.text();
    for topic in ["agent-1", "/tmp/agent-1.output", "notification", "can be read from the file"] {
        assert!(words.contains(topic), "{topic}: {words}");
    }
    assert!(!launched(false).outcome(false).content.text().contains("can be read from the file"));
    let reads = |tools: &str| {
        let stage = Stage::new()
            .agent("outer", &format!("tools: {tools}"))
            .says("main", vec![spawn("outer", "go on"), text("done")])
            .says("outer", vec![super::clocked::spawn_behind("explore", "look"), text("outer is done")])
            .says("explore", vec![text("nothing")]);
        let played = stage.play(|session| async move {
            says(&main_agent(&session), "go").await;
            all_done(&session).await;
        });
        let result = super::clocked::results(played.asked_by("outer")[1]).remove(0);
        result["content"].as_str().unwrap().contains("can be read from the file")
    };
    assert!(reads("Agent, Read") && !reads("Agent"));
}

#[test]
fn result_07_an_agent_that_can_be_continued_says_how() {
    let (words, played) = result(Stage::new(), "general-purpose");
    let child = &played.agents()[0];
    for topic in [&**child, "SendMessage", "total_tokens: 330", "tool_uses: 2", "duration_ms: 1250"] {
        assert!(words.contains(topic), "{topic}: {words}");
    }
}

#[test]
fn result_08_one_shot_agents_return_only_their_text() {
    for kind in ["explore", "plan"] {
        assert_eq!(result(Stage::new(), kind).0, "three");
    }
    assert_ne!(result(Stage::new().agent("reviewer", ""), "reviewer").0, "three");
}

#[test]
fn result_09_the_content_is_the_last_text_and_no_other() {
    let (words, _) = result(Stage::new(), "general-purpose");
    assert!(words.starts_with("three"), "{words}");
    assert!(!words.contains("one") && !words.contains("two"), "{words}");
}

#[test]
fn result_09_text_before_the_last_message_is_not_the_report() {
    let glob = || call("Glob", json!({ "pattern": "*" }));
    let played = Stage::new()
        .agent("worker", "maxTurns: 2")
        .says("main", vec![spawn("worker", "look round"), text("done")])
        .says("worker", vec![glob().saying("one"), glob()])
        .play(|session| async move { drop(says(&main_agent(&session), "go").await) });
    let results = played.results();
    let words = results[0]["content"].as_str().unwrap();
    assert!(words.starts_with("(the agent ended without a text)"), "{words}");
}

#[test]
fn result_10_result_11_result_12_totals_are_those_of_all_messages() {
    let (_, played) = result(Stage::new(), "general-purpose");
    let totals = played.find(|event| match event {
        Event::AgentResult { tokens, tool_uses, duration_ms, .. } => Some((*tokens, *tool_uses, *duration_ms)),
        _ => None,
    });
    assert_eq!(totals, [(3 * (TOKENS.0 + TOKENS.1), 2, 1_250)]);
    let child = played.agents()[0].clone();
    let spent: u64 = played
        .find(|event| match event {
            Event::Usage { agent, usage, .. } if *agent == child => Some(usage.input + usage.output),
            _ => None,
        })
        .iter()
        .sum();
    assert_eq!(spent, totals[0].0);
}

#[test]
fn result_09_an_agent_without_a_last_text_says_so() {
    let mut empty = completed();
    if let Data::Completed(completed) = &mut empty {
        completed.content = " ".into();
    }
    assert!(empty.outcome(true).content.text().contains("without a text"));
}
