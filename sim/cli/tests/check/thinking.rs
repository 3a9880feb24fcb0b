//! Thinking that its provider does not take: every output says so at its place, before any price, and every verb knows when
//! the account was created and what is an item of a batch.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::bodies::{code, folder, forkcast, stderr, stdout};

/// A request of a conversation with thinking; from the third on, its first message is another one.
fn body(model: &str, turn: usize) -> Value {
    let asked = if turn < 2 { "What does the parser do with an empty file? " } else { "What does it do? " };
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let mut messages = vec![text("user", &asked.repeat(60))];
    for step in 0..turn {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Step {step}."), "signature": format!("EqABCkYI{step}")},
            {"type": "text", "text": format!("Done {step}.")}]}));
        messages.push(text("user", &format!("Go on {step}.")));
    }
    json!({"model": model, "max_tokens": 1024, "cache_control": {"type": "ephemeral"},
        "system": "The house rules. ".repeat(400), "messages": messages})
}

/// The words of a recorded error.
const ERROR: &str =
    "messages.1.content.0: Invalid `signature` in `thinking` block: it is bound to a different conversation";

fn bodies(name: &str, model: &str) -> PathBuf {
    let place = folder(name);
    fs::create_dir_all(place.join("bodies")).unwrap();
    for turn in 0..3 {
        fs::write(place.join(format!("bodies/{turn}.json")), body(model, turn).to_string()).unwrap();
    }
    place
}

fn shown(place: &Path, arguments: &[&str]) -> String {
    let output = forkcast(place, arguments);
    assert!(code(&output) <= 1, "{arguments:?}: {}", stderr(&output));
    stdout(&output).to_owned()
}

#[test]
fn each_format_names_the_request_that_is_refused() {
    let place = bodies("thinking-formats", "claude-fable-5-2");
    let check = |format: &str| shown(&place, &["check", "bodies", "--format", format]);
    let of_thinking = |lines: &str| lines.lines().find(|line| line.contains("HTTP 400")).unwrap_or_default().to_owned();
    let command = of_thinking(&check("github"));
    assert!(
        command.starts_with("::error file=bodies/2.json,line=1,title=request 2 at messages[1].content[0]"),
        "{command}"
    );
    let sarif: Value = serde_json::from_str(&check("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().find(|result| result["ruleId"] == "thinking").unwrap();
    let location = &found["locations"][0];
    assert_eq!(location["physicalLocation"]["artifactLocation"]["uri"], "bodies/2.json", "{location}");
    assert_eq!(location["logicalLocations"][0]["fullyQualifiedName"], "messages[1].content[0]", "{location}");
    let junit = check("junit");
    let case = junit.lines().find(|line| line.contains("classname=\"forkcast.thinking\"")).unwrap();
    assert!(case.contains("file=\"bodies/2.json\""), "{case}");
    let json: Value = serde_json::from_str(&check("json")).unwrap();
    let violation = &json["violations"][0];
    assert_eq!((violation["request"].as_u64(), violation["file"].as_str()), (Some(2), Some("bodies/2.json")));
    assert_eq!(violation["path"], "messages[1].content[0]");
}

/// The request of a recorded error is not checked, so it has no number; its place is that of the error.
#[test]
fn a_recorded_error_has_its_own_line() {
    let place = folder("thinking-recorded");
    let line = |turn: usize, answer: Value, status: u16| {
        let (at, request) = (1_790_000_000_000_u64 + turn as u64 * 1000, body("claude-fable-5-1", turn));
        json!({"v": 1, "at_ms": at, "chain": "main", "request": request, "response": answer, "status": status})
            .to_string()
    };
    let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": ERROR}});
    let lines = [line(0, Value::Null, 200), line(1, Value::Null, 200), line(2, error, 400)];
    fs::write(place.join("log.jsonl"), lines.join("\n")).unwrap();
    let output = shown(&place, &["check", "log.jsonl", "--format", "github"]);
    let command = output.lines().find(|line| line.contains("HTTP 400")).unwrap_or_default();
    assert!(command.starts_with("::error file=log.jsonl,line=3,"), "{output}");
}

/// It is no cost, so it comes before the cost.
#[test]
fn the_refusal_comes_before_the_price() {
    let place = bodies("thinking-order", "claude-fable-5-2");
    let checked = shown(&place, &["check", "bodies"]);
    assert!(checked.starts_with("refused by the provider, and a cached prefix is broken: 1 change"), "{checked}");
    let explained = shown(&place, &["explain", "bodies", "2"]);
    let differing = shown(&place, &["diff", "bodies/1.json", "bodies/2.json"]);
    for (text, price) in [(&checked, "cached tokens"), (&explained, "avoidable"), (&differing, "cached tokens")] {
        let (refusal, price) = (text.find("HTTP 400").unwrap(), text.find(price).unwrap());
        assert!(refusal < price, "{text}");
    }
}

/// A run whose forks send their parent's thinking under another system prompt says so before its cost, and so does the
/// first screen of a replay.
#[test]
fn runs_and_replays_say_it_on_their_first_screens() {
    let place = bodies("thinking-screens", "claude-fable-5-2");
    let model = "session.model=claude-fable-5-2";
    let run = shown(&place, &["run", "contract/E16+re-render", "--set", model]);
    let run = run.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = run.find("send thinking after other content than it was made after. The first: request 1, thinking at");
    assert!(said.is_some() && said < run.find("Cost $"), "{run}");
    let replay = shown(&place, &["replay", "bodies"]);
    let replay = replay.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        replay.contains("1 request sends thinking after other content than it was made after, billed here"),
        "{replay}"
    );
}

#[test]
fn every_verb_knows_the_age_of_the_account() {
    let place = bodies("thinking-account", "claude-fable-5-1");
    let verbs: [&[&str]; 4] = [
        &["check", "bodies"],
        &["diff", "bodies/1.json", "bodies/2.json"],
        &["explain", "bodies", "2"],
        &["replay", "bodies", "--details"],
    ];
    for (created, words) in
        [("", "for accounts created since 2026-08-31"), ("2026-07-01", "bills it"), ("2026-09-15", "HTTP 400 on")]
    {
        let rules = if created.is_empty() { String::new() } else { format!("account_created = \"{created}\"\n") };
        fs::write(place.join("forkcast.toml"), rules).unwrap();
        for verb in verbs {
            let text = shown(&place, verb).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(words), "{created}: {verb:?}: {text}");
            assert_eq!(text.contains("created since 2026-08-31"), created.is_empty(), "{created}: {verb:?}: {text}");
        }
    }
    fs::write(place.join("forkcast.toml"), "account_created = \"yesterday\"").unwrap();
    for verb in verbs {
        let output = forkcast(&place, verb);
        assert_eq!(code(&output), 2, "{verb:?}");
        assert!(stderr(&output).contains("forkcast.toml:1: found"), "{verb:?}: {}", stderr(&output));
    }
}

#[test]
fn every_verb_knows_the_items_of_batches() {
    let place = folder("thinking-batch");
    let line = |turn: usize| {
        let (at, request) = (1_790_000_000_000_u64 + turn as u64 * 1000, body("claude-fable-5-2", turn));
        json!({"v": 1, "at_ms": at, "chain": "main", "batch": true, "request": request}).to_string()
    };
    fs::write(place.join("log.jsonl"), [0, 1, 2].map(line).join("\n")).unwrap();
    let verbs: [&[&str]; 4] = [
        &["check", "log.jsonl"],
        &["diff", "log.jsonl#1", "log.jsonl#2"],
        &["explain", "log.jsonl", "2"],
        &["replay", "log.jsonl", "--details"],
    ];
    for verb in verbs {
        let text = shown(&place, verb).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("thinking is dropped on") && !text.contains("HTTP 400"), "{verb:?}: {text}");
    }
}
