//! The name from the provider's own diagnosis, in every output format of a check.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::bodies::{body, code, folder, forkcast, restless, stderr, stdout};

/// A conversation through the Responses API whose reasoning effort changes in the third request, and a tool in the
/// fourth.
fn responses(place: &Path) {
    fs::create_dir_all(place).unwrap();
    let manual = "The house rules are told at length. ".repeat(400);
    for turn in 0..4 {
        let message = |role: &str, text: String| json!({"type": "message", "role": role, "content": text});
        let said = (0..turn).flat_map(|at| {
            [
                message("assistant", format!("I look at part {at}.")),
                message("user", format!("Go on with part {}.", at + 1)),
            ]
        });
        let input: Vec<Value> =
            std::iter::once(message("user", "Why does the parser fail?".to_owned())).chain(said).collect();
        let text = if turn < 3 { "Reads a file" } else { "Reads one file" };
        let body = json!({"model": "gpt-5.6-sol", "instructions": manual, "input": input, "prompt_cache_key": "thread",
            "reasoning": {"effort": if turn < 2 { "low" } else { "high" }},
            "tools": [{"type": "function", "name": "read", "description": text, "parameters": {"type": "object"}}]});
        fs::write(place.join(format!("{turn}.json")), body.to_string()).unwrap();
    }
}

fn checked(place: &Path, format: &str) -> String {
    let output = forkcast(place, &["check", "bodies", "--lock", "none", "--format", format]);
    assert_eq!(code(&output), 1, "{format}: {}", stderr(&output));
    stdout(&output).to_owned()
}

const FORMATS: [&str; 7] = ["human", "markdown", "json", "csv", "junit", "github", "sarif"];

#[test]
fn bodies_for_openai_have_openais_names_in_every_format() {
    let place = folder("words-openai");
    responses(&place.join("bodies"));
    for format in FORMATS {
        let told = checked(&place, format);
        for word in ["reasoning_effort_changed", "tools_changed"] {
            assert!(told.contains(word), "{format}: {word}: {told}");
        }
        assert!(!told.contains("unavailable"), "{format}: {told}");
    }
    let told: Value = serde_json::from_str(&checked(&place, "json")).unwrap();
    let findings = told["findings"].as_array().unwrap();
    let words = |finding: &Value| ["cause", "path", "provider", "provider_reason"].map(|key| finding[key].clone());
    let expected = [
        ["level_parameter", "reasoning.effort", "openai", "reasoning_effort_changed"],
        ["tool_changed", "tools[0]", "openai", "tools_changed"],
    ];
    assert_eq!(findings.iter().map(words).collect::<Vec<_>>(), expected.map(|row| row.map(|word| json!(word))));
    // OpenAI's cache is not modelled, so the possible read is unknown.
    let costs = |finding: &Value| ["tokens_lost", "cost_usd", "cost_unknown"].map(|key| finding[key].clone());
    assert!(findings.iter().map(costs).all(|costs| costs == [json!(null), json!(null), json!("no_cache_model")]));
    assert!(told["warnings"][0].as_str().unwrap().contains("4 requests to OpenAI"), "{told:#}");
    let human = checked(&place, "human").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(human.contains("OpenAI's cache diagnosis (Responses API) calls it `reasoning_effort_changed`."), "{human}");
}

#[test]
fn a_provider_without_a_diagnosis_is_reported() {
    let place = folder("words-none");
    fs::create_dir(place.join("bodies")).unwrap();
    for (at, turn) in restless().into_iter().enumerate() {
        let body = body(turn).replace("claude-opus-4-8", "anthropic.claude-opus-4-5-20251101-v1:0");
        fs::write(place.join(format!("bodies/{at}.json")), body).unwrap();
    }
    for format in ["human", "markdown", "junit", "github", "sarif"] {
        let told = checked(&place, format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("Its provider has no cache diagnosis."), "{format}: {told}");
    }
    let told: Value = serde_json::from_str(&checked(&place, "json")).unwrap();
    for finding in told["findings"].as_array().unwrap() {
        assert!(finding["provider"].is_null() && finding["provider_reason"].is_null(), "{finding:#}");
    }
}

#[test]
fn diff_shows_the_providers_names() {
    let place = folder("words-diff");
    responses(&place.join("bodies"));
    let output = forkcast(&place, &["diff", "bodies/1.json", "bodies/2.json", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!([&told["provider"], &told["provider_reason"]], ["openai", "reasoning_effort_changed"]);
    assert_eq!([&told["tokens_lost"], &told["cost_unknown"]], [&Value::Null, &json!("no_cache_model")]);
}
