//! A parent, its forks and their bodies, built by hand.

use forkcast_sim::guard::{Checked, Facts, Finding, Guard, Rule, Rules, Sent};
use serde_json::{Value, json};

/// A request on its way.
#[derive(Clone)]
pub struct Post {
    pub chain: &'static str,
    pub parent: Option<&'static str>,
    pub body: Value,
}

/// Text that is long enough to be cached.
pub fn long(words: &str) -> String {
    format!("{words} ").repeat(600)
}

/// A request of a conversation with these messages, marked at its end and at the end of its system prompt.
pub fn body(messages: Vec<Value>) -> Value {
    let messages = Value::from(messages);
    let tool = |name: &str| json!({"name": name, "description": format!("{name} does what it says."), "input_schema": {"type": "object"}});
    let tools = ["Agent", "Bash", "Edit", "Read"].map(tool);
    let mut body = json!({
        "model": "claude-opus-5-5",
        "tools": tools,
        "system": [{"type": "text", "text": long("Be brief."), "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
        "output_config": {"effort": "medium"},
        "max_tokens": 1000,
    });
    mark(body["messages"].as_array_mut().unwrap().last_mut().unwrap());
    body
}

pub fn mark(message: &mut Value) {
    let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
    block["cache_control"] = json!({"type": "ephemeral"});
}

pub fn user(words: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": words}]})
}

pub fn said(words: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": words}]})
}

/// The parent's conversation before it forks.
pub fn history() -> Vec<Value> {
    vec![user(&long("What is here?")), said("Five parts."), user("Since when?"), said("Since long."), user("Fork now.")]
}

/// The message that forks, with a call for each part.
pub fn forking(parts: &[&str]) -> Value {
    let call = |part: &&str| json!({"type": "tool_use", "id": format!("toolu_{part}"), "name": "Agent", "input": {"prompt": part}});
    json!({"role": "assistant", "content": parts.iter().map(call).collect::<Vec<_>>()})
}

/// Placeholders for each call, then the directive.
pub fn directive(parts: &[&str], own: &str) -> Value {
    let result =
        |part: &&str| json!({"type": "tool_result", "tool_use_id": format!("toolu_{part}"), "content": "It started."});
    let mut content: Vec<Value> = parts.iter().map(result).collect();
    content.push(json!({"type": "text", "text": format!("You are a fork. Look at {own}.")}));
    json!({"role": "user", "content": content})
}

pub const PARTS: [&str; 4] = ["one", "two", "three", "four"];

/// The parent's last request before it forks.
pub fn parent() -> Post {
    Post { chain: "main", parent: None, body: body(history()) }
}

/// The first request of a fork.
pub fn fork(own: &'static str) -> Post {
    let messages = history().into_iter().chain([forking(&PARTS), directive(&PARTS, own)]).collect();
    Post { chain: own, parent: Some("main"), body: body(messages) }
}

/// The parent's next request.
pub fn next() -> Post {
    let result = |part: &&str| json!({"type": "tool_result", "tool_use_id": format!("toolu_{part}"), "content": format!("{part} is at work")});
    let results = json!({"role": "user", "content": PARTS.iter().map(result).collect::<Vec<_>>()});
    let messages = history().into_iter().chain([forking(&PARTS), results]).collect();
    Post { chain: "main", parent: None, body: body(messages) }
}

/// The guard's report on each request. Without `ids` it only gets the bodies.
pub fn checked(posts: &[Post], ids: bool) -> Vec<Checked> {
    let mut guard = Guard::new(Rules::default());
    let take = |post: &Post| {
        let text = post.body.to_string();
        let sent = Sent {
            body: text.as_bytes(),
            facts: Facts {
                chain: Some(post.chain).filter(|_| ids),
                parent: post.parent.filter(|_| ids),
                scope: "folder",
                ..Facts::default()
            },
            ..Sent::default()
        };
        guard.take(&sent).unwrap()
    };
    posts.iter().map(take).collect()
}

/// The findings that break a prefix, for all requests.
pub fn breaks(posts: &[Post], ids: bool) -> Vec<Finding> {
    let found = checked(posts, ids).into_iter().flat_map(|checked| checked.findings);
    found.filter(|finding| finding.breaks_prefix).collect()
}

/// Rule, request, the request that it was compared with, cause and path of each.
pub fn told(findings: &[Finding]) -> Vec<(Rule, usize, Option<usize>, &'static str, &str)> {
    let one = |found: &Finding| (found.rule, found.request, found.older, found.cause.word());
    findings
        .iter()
        .map(|found| {
            let (rule, request, older, cause) = one(found);
            (rule, request, older, cause, found.path.as_str())
        })
        .collect()
}
