//! Bodies in other spellings of the same model: findings have the paths of the body that was sent.

use forkcast_replay::check::Outcome;
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, changes, equality};
use serde_json::{Value, json};

use super::stage::{Folder, breaks, long};

/// Requests to a host, as a browser's recorder stores them.
fn har(url: &str, bodies: &[Value]) -> String {
    let entry = |(at, body): (usize, &Value)| {
        json!({"startedDateTime": format!("2026-10-01T10:00:0{at}.000Z"), "time": 500,
            "request": {"method": "POST", "url": url, "headers": [],
                "postData": {"mimeType": "application/json", "text": body.to_string()}},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": "{}"}}})
    };
    let entries: Vec<Value> = bodies.iter().enumerate().map(entry).collect();
    json!({"log": {"version": "1.2", "entries": entries}}).to_string()
}

/// A conversation of two requests; `change` changes the second: the findings in a recording, and in a folder of bodies.
fn changed(url: &str, body: fn(usize) -> Value, change: impl Fn(&mut Value)) -> Outcome {
    let mut bodies = [body(1), body(2)];
    change(&mut bodies[1]);
    let check = |files: &[(&str, String)]| {
        let (fed, outcome) = Folder::new(files).check();
        assert_eq!((fed.requests, outcome.report.chains), (2, 1), "{:?} {:?}", fed.unchecked, fed.inputs.skipped);
        outcome
    };
    let recorded = check(&[("capture.har", har(url, &bodies))]);
    let alone = check(&[("1.json", bodies[0].to_string()), ("2.json", bodies[1].to_string())]);
    assert_eq!(told(&recorded), told(&alone));
    recorded
}

fn told(outcome: &Outcome) -> Vec<(&'static str, String)> {
    breaks(outcome).into_iter().map(|(_, cause, path, _)| (cause, path)).collect()
}

const CONVERSE: &str = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-opus-4-8-v1:0/converse";

fn converse(turns: usize) -> Value {
    let point = json!({"cachePoint": {"type": "default"}});
    let tool = |name: &str| json!({"toolSpec": {"name": name, "description": "Works.", "inputSchema": {"json": {}}}});
    let mut messages = vec![json!({"role": "user", "content": [{"text": "Why?"}, point, {"text": "And when?"}]})];
    if turns > 1 {
        messages.push(json!({"role": "assistant", "content": [{"text": "Look: "},
            {"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}]}));
        messages.push(json!({"role": "user", "content": [
            {"toolResult": {"toolUseId": "t1", "content": [{"text": "part"}], "status": "success"}}, point]}));
    }
    json!({"system": [{"text": long("rule")}, point, {"text": "Be kind."}], "messages": messages,
        "toolConfig": {"tools": [tool("read"), point, tool("write")]}})
}

#[test]
fn cache_points_of_converse_are_elements_of_their_list() {
    assert_eq!(told(&changed(CONVERSE, converse, |_| ())), []);
    type Change = fn(&mut Value);
    let table: [(Change, &str, &str); 5] = [
        (|body| body["toolConfig"]["toolChoice"] = json!({"any": {}}), "level_parameter", "toolConfig.toolChoice"),
        (
            |body| body["additionalModelRequestFields"] = json!({"thinking": {"type": "adaptive"}}),
            "level_parameter",
            "additionalModelRequestFields.thinking",
        ),
        (
            |body| body["toolConfig"]["tools"][2]["toolSpec"]["description"] = json!("Plays."),
            "tool_changed",
            "toolConfig.tools[2]",
        ),
        (|body| body["system"][2]["text"] = json!("Be strict."), "system_changed", "system[2]"),
        (|body| body["messages"][0]["content"][0]["text"] = json!("Who?"), "message_edited", "messages[0].content[0]"),
    ];
    for (change, cause, path) in table {
        assert_eq!(told(&changed(CONVERSE, converse, change)), [(cause, path.to_owned())]);
    }
}

#[test]
fn converse_refuses_in_words_of_its_own() {
    let reasoning = json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}});
    let point = json!({"cachePoint": {"type": "default"}});
    for (content, words) in [
        (json!([reasoning, point, {"text": "Look."}]), "Cache point cannot be inserted after reasoning block."),
        (json!([{"text": " "}]), "The text field in the ContentBlock object at messages.1.content.0 is blank."),
        (json!([point]), "There is nothing available to cache."),
        (json!([point, {"text": "Look."}]), "There is nothing available to cache."),
        (json!([]), "The content field in the Message object at messages.1 is empty."),
    ] {
        let mut body = converse(1);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": content}));
        messages.push(json!({"role": "user", "content": [{"text": "Go on."}]}));
        let (_, outcome) = Folder::new(&[("capture.har", har(CONVERSE, &[body]))]).check();
        let found: Vec<&str> = outcome.report.violations.iter().map(|violation| violation.found.as_str()).collect();
        assert!(matches!(found.as_slice(), [only] if only.contains(words)), "{found:?}");
    }
}

/// Nova takes cache points in the system prompt and in messages. Converse looks at texts itself, whatever the model.
#[test]
fn converse_refuses_cache_points_on_novas_tools_and_blank_texts() {
    const NOVA: &str = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-pro-v1:0/converse";
    let untouched = |body: &mut Value| {
        body["toolConfig"]["tools"].as_array_mut().unwrap().remove(1);
    };
    let blank = |body: &mut Value| body["messages"][0]["content"][2]["text"] = json!(" ");
    let system = |body: &mut Value| body["system"][2]["text"] = json!("");
    let result = |body: &mut Value| {
        body["messages"][2]["content"][0]["toolResult"]["content"][0]["text"] = json!("");
    };
    let both = |body: &mut Value| (untouched(body), blank(body)).1;
    let long = |body: &mut Value| {
        untouched(body);
        body["system"][1]["cachePoint"]["ttl"] = json!("1h");
    };
    type Case<'a> = (&'a str, &'a dyn Fn(&mut Value), &'a [&'a str]);
    let cases: [Case<'_>; 7] = [
        (NOVA, &|_| (), &["#/toolConfig/tools/1: extraneous key [cachePoint] is not permitted"]),
        (NOVA, &untouched, &[]),
        (NOVA, &both, &["ContentBlock object at messages.0.content.2 is blank."]),
        (NOVA, &long, &["Extended TTL prompt caching is only supported for Anthropic models"]),
        (CONVERSE, &|_| (), &[]),
        (CONVERSE, &system, &["Value at 'system.3.member.text' failed to satisfy constraint"]),
        (CONVERSE, &result, &["errors: messages: text content blocks must be non-empty"]),
    ];
    for (url, change, words) in cases {
        let mut body = converse(2);
        change(&mut body);
        let (_, outcome) = Folder::new(&[("capture.har", har(url, &[body]))]).check();
        let found: Vec<&str> = outcome.report.violations.iter().map(|violation| violation.found.as_str()).collect();
        assert_eq!(found.len(), words.len(), "{url}: {found:?}");
        assert!(found.iter().zip(words).all(|(found, words)| found.contains(words)), "{found:?}");
    }
}

#[test]
fn a_cache_point_within_a_result_is_refused() {
    let point = json!({"cachePoint": {"type": "default"}});
    let mut body = converse(2);
    body["messages"][2]["content"][0]["toolResult"]["content"].as_array_mut().unwrap().push(point);
    let (_, outcome) = Folder::new(&[("capture.har", har(CONVERSE, &[body]))]).check();
    let [violation] = outcome.report.violations.as_slice() else { panic!("{:?}", outcome.report.violations) };
    assert_eq!(violation.what, "request 0 at messages[2].content[0]");
    assert!(violation.found.contains("cachePoint is no member of toolResult.content"), "{violation}");
}

const OPENROUTER: &str = "https://openrouter.ai/api/v1/chat/completions";

fn openrouter(turns: usize) -> Value {
    let marked = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    let mut messages =
        vec![json!({"role": "system", "content": long("rule")}), json!({"role": "user", "content": "Why?"})];
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    messages.push(json!({"role": "assistant", "content": "Look:", "tool_calls": [call("c1"), call("c2")]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": "part 1"}));
    messages.push(json!({"role": "tool", "tool_call_id": "c2", "content": "part 2"}));
    messages.push(json!({"role": "user", "content": marked("Go on.")}));
    if turns > 1 {
        messages.push(json!({"role": "assistant", "content": "Gone."}));
        messages.push(json!({"role": "user", "content": marked("Further.")}));
    }
    json!({"model": "anthropic/claude-opus-4.8", "messages": messages})
}

#[test]
fn messages_of_openrouter_keep_their_numbers() {
    assert_eq!(told(&changed(OPENROUTER, openrouter, |_| ())), []);
    type Change = fn(&mut Value);
    let table: [(Change, &str, &str); 4] = [
        (|body| body["messages"][0]["content"] = json!(long("order")), "system_changed", "messages[0].content[0]"),
        (
            |body| body["messages"][2]["tool_calls"][1]["function"]["arguments"] = json!("{\"a\":1}"),
            "message_edited",
            "messages[2].tool_calls[1]",
        ),
        (|body| body["messages"][4]["content"] = json!("part two"), "message_edited", "messages[4].content[0]"),
        (|body| body["messages"][5]["content"][0]["text"] = json!("Stop."), "message_edited", "messages[5].content[0]"),
    ];
    for (change, cause, path) in table {
        assert_eq!(told(&changed(OPENROUTER, openrouter, change)), [(cause, path.to_owned())]);
    }
}

#[test]
fn a_body_with_its_model_in_the_address_is_valid() {
    let body = |rules: &str, turns: usize| {
        let mut body = super::stage::body("bees", turns);
        body["anthropic_version"] = json!("bedrock-2023-05-31");
        body["system"][0]["text"] = json!(long(rules));
        body.as_object_mut().into_iter().for_each(|body| drop(body.remove("model")));
        body.to_string()
    };
    let (fed, outcome) = Folder::new(&[("1.json", body("rule", 1)), ("2.json", body("order", 2))]).check();
    assert_eq!(fed.requests, 2, "{:?}", fed.inputs.skipped);
    assert_eq!(told(&outcome), [("system_changed", "system[0]".to_owned())]);
}

#[test]
fn a_difference_from_a_lock_has_its_place_in_the_body_that_was_sent() {
    let folder = |rules: &str| {
        let input = json!([{"role": "developer", "content": "House rules."}, {"role": "user", "content": "Why?"}]);
        let body = json!({"model": "gpt-5.6-sol", "instructions": long(rules), "input": input});
        Folder::new(&[("1.json", body.to_string())])
    };
    let pinned = Lock::parse(&folder("rule").check().1.lock.unwrap().text()).unwrap();
    let newer = folder("order").check().1.lock.unwrap();
    let found = equality(&pinned, &newer, &Rules::default());
    let paths: Vec<&str> = found.findings.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["instructions"]);
    let changed = changes(&pinned, &newer).changes[0].to_string();
    assert!(changed.contains("system_changed instructions"), "{changed}");
}
