//! Tests that agents' authors write by hand, and what they miss: each passes although the bytes changed.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use forkcast_sim::assert_prefix_stable;
use serde_json::{Value, json};

use super::conversation::{body, replace};

/// Whether our assertion fails.
fn ours_fails(older: &str, newer: &str) -> bool {
    catch_unwind(|| assert_prefix_stable!(older, newer)).is_err()
}

#[test]
fn a_test_that_sorts_the_tools_does_not_see_their_order() {
    let (older, mut newer) = (body(1), body(2));
    newer["tools"].as_array_mut().unwrap().swap(0, 2);
    let sorted = |body: &Value| -> BTreeMap<String, String> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools.map(|tool| (tool["name"].to_string(), tool.to_string())).collect()
    };
    assert_eq!(sorted(&older), sorted(&newer), "the naive test passes");
    assert!(ours_fails(&older.to_string(), &newer.to_string()));
}

#[test]
fn a_test_that_compares_parsed_objects_does_not_see_the_order_of_keys() {
    let call = |turns: usize, input: &str| {
        let body = body(turns).to_string();
        let (old, new) = (r#""input":{"command":"run 0"}"#, format!(r#""input":{input}"#));
        assert!(body.contains(old));
        body.replace(old, &new)
    };
    let older = call(1, r#"{"command":"ls","timeout":5}"#);
    let newer = call(1, r#"{"timeout":5,"command":"ls"}"#);
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parsed(&older), parsed(&newer), "the naive test passes");
    assert!(ours_fails(&older, &newer));
}

#[test]
fn a_test_that_shares_one_tool_list_does_not_see_the_list_of_a_second_start() {
    /// An agent with a tool description that counts how often it was rendered.
    struct Agent {
        asked: u32,
    }
    impl Agent {
        fn tools(&mut self) -> Value {
            self.asked += 1;
            json!([{"name": "Read", "description": format!("Reads files. Call {} of this run.", self.asked), "input_schema": {"type": "object"}}])
        }
        fn send(&mut self, turns: usize) -> Value {
            let mut body = body(turns);
            body["tools"] = self.tools();
            body
        }
    }
    // The naive test renders the tools once and puts them into both bodies by hand.
    let shared = Agent { asked: 0 }.tools();
    let naive = |turns: usize| {
        let mut body = body(turns);
        body["tools"] = shared.clone();
        body
    };
    assert_eq!(naive(1)["tools"], naive(2)["tools"], "the naive test passes");
    // Ours checks the bytes that are sent.
    let mut agent = Agent { asked: 0 };
    let (older, newer) = (agent.send(1), agent.send(2));
    assert!(ours_fails(&older.to_string(), &newer.to_string()));
}

#[test]
fn a_test_that_compares_only_texts_does_not_see_their_places() {
    let (older, mut newer) = (body(1), body(2));
    // The same text, with the newest message put before the history.
    let messages = newer["messages"].as_array_mut().unwrap();
    messages.rotate_right(2);
    let words = |body: &Value| body["messages"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>();
    let unmarked = |words: Vec<String>| {
        words.into_iter().map(|word| word.replace(r#""cache_control":{"type":"ephemeral"},"#, "")).collect::<Vec<_>>()
    };
    let (older_words, newer_words) = (unmarked(words(&older)), unmarked(words(&newer)));
    assert!(older_words.iter().all(|word| newer_words.contains(word)), "the naive test passes");
    assert!(ours_fails(&older.to_string(), &newer.to_string()));
}

#[test]
fn another_spelling_with_the_same_meaning_passes() {
    let (older, newer) = (body(1), body(2));
    let mut respelled = newer.to_string().replace("\",\"", "\", \"").replace("plan", "pl\\u0061n");
    assert!(!ours_fails(&older.to_string(), &respelled));
    let mut changed = newer;
    replace(&mut changed, "/messages/1/content/0/text", "plan 0 is", "plan 0  is");
    respelled = changed.to_string();
    assert!(ours_fails(&older.to_string(), &respelled));
}
