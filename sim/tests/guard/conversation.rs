//! A conversation with an agent, as the bodies that it sends.

use forkcast_sim::guard::{Checked, Guard, Report, Rules, Sent};
use serde_json::{Value, json};

/// Text of about `tokens` tokens, different for each `word`.
pub fn text(word: &str, tokens: usize) -> String {
    let line = format!("{word} is said here. ");
    line.repeat(tokens * 31 / 10 / line.len() + 1)
}

/// A body of three tools, a system prompt of two texts, and `turns` turns of a user and a call of a tool; the system prompt
/// and the last block are marked.
pub fn body(turns: usize) -> Value {
    let tool = |name: &str| json!({"name": name, "description": text(name, 300), "input_schema": {"type": "object"}});
    let mut body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1000,
        "tools": [tool("Bash"), tool("Edit"), tool("Read")],
        "system": [
            {"type": "text", "text": "Today is 2026-11-20. Be brief."},
            {"type": "text", "text": text("policy", 1_200), "cache_control": {"type": "ephemeral"}},
        ],
        "messages": [message("user", "task 0")],
    });
    for turn in 0..turns {
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": text(&format!("plan {turn}"), 50)},
            {"type": "tool_use", "id": format!("t{turn}"), "name": "Bash", "input": {"command": format!("run {turn}")}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": text(&format!("result {turn}"), 100)},
        ]}));
    }
    mark_end(&mut body);
    body
}

/// A message of one text.
pub fn message(role: &str, word: &str) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text(word, 40)}]})
}

/// Marks the last block, and no other message block.
pub fn mark_end(body: &mut Value) {
    unmark(body);
    let message = body["messages"].as_array_mut().unwrap().last_mut().unwrap();
    message["content"].as_array_mut().unwrap().last_mut().unwrap()["cache_control"] = json!({"type": "ephemeral"});
}

/// Removes the breakpoints from the messages.
pub fn unmark(body: &mut Value) {
    for message in body["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
}

/// Replaces the first `old` in the string at `pointer`.
pub fn replace(body: &mut Value, pointer: &str, old: &str, new: &str) {
    let place = body.pointer_mut(pointer).unwrap();
    let text = place.as_str().unwrap();
    assert!(text.contains(old), "{pointer} holds no `{old}`");
    *place = Value::from(text.replacen(old, new, 1));
}

/// A guard of the default rules.
pub fn guard() -> Guard {
    Guard::new(Rules::default())
}

/// Takes a body about which nothing else is known.
pub fn take(guard: &mut Guard, body: &Value) -> Checked {
    guard.take(&Sent::body(body.to_string().as_bytes())).unwrap()
}

/// The guard's report on these bodies.
pub fn check(bodies: &[Value]) -> Report {
    let mut guard = guard();
    for body in bodies {
        take(&mut guard, body);
    }
    guard.finish()
}
