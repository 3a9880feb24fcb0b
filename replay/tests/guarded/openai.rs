//! Bodies of the Responses API and of chat completions.

use serde_json::{Value, json};

use super::stage::{Folder, breaks, long};
use forkcast_replay::check::Outcome;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::lock::{Lock, equality};
use forkcast_sim::guard::{Rule, Rules, Unknown};

/// What all versions of a result have in common.
const FILE: &str = " of the file that was asked for, with all of its lines";

/// The body of a conversation of `turns` questions, as Codex CLI sends it.
fn response(turns: usize) -> Value {
    let text = |role: &str, kind: &str, text: String| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let mut input = vec![text("user", "input_text", "Why does the parser fail?".to_owned())];
    for turn in 1..turns {
        let call = format!("call_{turn}");
        input.push(json!({"type": "function_call", "id": format!("fc_{turns}_{turn}"), "call_id": call,
            "name": "read", "arguments": format!("{{\"part\": {turn}}}")}));
        input.push(json!({"type": "function_call_output", "call_id": call, "output": format!("part {turn}{FILE}")}));
    }
    json!({"model": "gpt-5.6-sol", "instructions": long("rule"), "input": input, "store": false, "stream": true,
        "prompt_cache_key": "thread", "reasoning": {"effort": "medium"}, "text": {"verbosity": "low"},
        "tools": [{"type": "function", "name": "read", "description": "Reads.", "parameters": {"type": "object"}}]})
}

fn chat(turns: usize) -> Value {
    let mut messages =
        vec![json!({"role": "system", "content": long("rule")}), json!({"role": "user", "content": "Why?"})];
    for turn in 1..turns {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{turn}"),
            "type": "function", "function": {"name": "read", "arguments": "{}"}}]}));
        messages
            .push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": format!("part {turn}{FILE}")}));
    }
    json!({"model": "gpt-4.1", "messages": messages,
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {}}}]})
}

/// Four turns; `change` changes the last two.
fn changed(body: fn(usize) -> Value, change: impl Fn(&mut Value)) -> Outcome {
    let mut bodies: Vec<Value> = (1..=4).map(body).collect();
    bodies[2..].iter_mut().for_each(change);
    let files: Vec<(String, String)> =
        bodies.iter().enumerate().map(|(at, body)| (format!("{at}.json"), body.to_string())).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let (fed, outcome) = Folder::new(&files).check();
    assert_eq!((fed.requests, fed.remarks.openai, outcome.report.chains), (4, 4, 1), "{:?}", fed.unchecked);
    outcome
}

/// Cause, path and the provider's word.
type Told<'a> = (&'static str, &'a str, Option<&'static str>);

/// Cause, path and the provider's word of all that breaks a prefix.
fn told(outcome: &Outcome) -> Vec<Told<'_>> {
    let broken = outcome.report.findings.iter().filter(|finding| finding.breaks_prefix);
    broken.map(|finding| (finding.cause.word(), finding.path.as_str(), finding.provider_reason())).collect()
}

#[test]
fn a_conversation_that_only_grows_keeps_its_prefix() {
    for body in [response, chat] {
        let outcome = changed(body, |_| ());
        assert_eq!(outcome.report.findings, []);
    }
}

#[test]
fn every_change_of_a_response_has_openais_word() {
    type Change = fn(&mut Value);
    let table: [(Change, Told<'_>); 9] = [
        (|body| body["model"] = json!("gpt-6-sol"), ("model_changed", "model", Some("model_changed"))),
        (
            |body| body["prompt_cache_key"] = json!("other"),
            ("level_parameter", "prompt_cache_key", Some("prompt_cache_key_changed")),
        ),
        (
            |body| body["service_tier"] = json!("flex"),
            ("level_parameter", "service_tier", Some("service_tier_changed")),
        ),
        (
            |body| body["tools"][0]["description"] = json!("Reads a file."),
            ("tool_changed", "tools[0]", Some("tools_changed")),
        ),
        (
            |body| body["text"]["format"] = json!({"type": "json_object"}),
            ("level_parameter", "text.format", Some("text_format_changed")),
        ),
        (
            |body| body["reasoning"]["effort"] = json!("high"),
            ("level_parameter", "reasoning.effort", Some("reasoning_effort_changed")),
        ),
        (
            |body| body["text"]["verbosity"] = json!("high"),
            ("level_parameter", "text.verbosity", Some("verbosity_changed")),
        ),
        (|body| body["instructions"] = json!(long("order")), ("system_changed", "instructions", Some("input_changed"))),
        (
            |body| body["input"][2]["output"] = json!(format!("part one{FILE}")),
            ("message_edited", "input[2]", Some("input_changed")),
        ),
    ];
    for (change, expected) in table {
        assert_eq!(told(&changed(response, change)), [expected]);
    }
}

#[test]
fn a_changed_chat_completion_has_openais_word_too() {
    let outcome = changed(chat, |body| body["messages"][0]["content"] = json!(long("order")));
    assert_eq!(told(&outcome), [("system_changed", "messages[0].content[0]", Some("input_changed"))]);
    let outcome = changed(chat, |body| body["messages"][3]["content"] = json!(format!("part one{FILE}")));
    assert_eq!(told(&outcome), [("message_edited", "messages[3].content[0]", Some("input_changed"))]);
    let finding = &outcome.report.findings[0];
    assert_eq!(finding.unknown(), Some(Unknown::NoCacheModel), "{finding:#?}");
}

#[test]
fn fields_of_a_message_besides_its_content_are_prompt() {
    fn named(turns: usize) -> Value {
        let mut body = chat(turns);
        body["messages"][1] = json!({"role": "user", "name": "ada", "content": [{"type": "text", "text": "Why?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "high"}}]});
        body
    }
    fn phased(turns: usize) -> Value {
        let mut body = response(turns);
        body["input"][0] = json!({"type": "message", "role": "user", "phase": "commentary", "content": [
            {"type": "input_text", "text": "Why?"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]});
        if turns > 1 {
            body["input"][1]["namespace"] = json!("files");
        }
        body
    }
    type Change = fn(&mut Value);
    type Body = fn(usize) -> Value;
    let table: [(Body, Change, &str, &str); 10] = [
        (named, |body| body["messages"][1]["name"] = json!("bob"), "message_edited", "messages[1].name"),
        (named, |body| body["messages"][1]["name"] = json!(null), "message_edited", "messages[1].name"),
        (
            named,
            |body| {
                body["messages"][2]["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": "s"}});
            },
            "message_edited",
            "messages[2].tool_calls[0]",
        ),
        (
            named,
            |body| body["messages"][1]["content"][1]["image_url"]["detail"] = json!("low"),
            "image_changed",
            "messages[1].content[1]",
        ),
        (
            named,
            |body| body["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{ }"),
            "message_edited",
            "messages[2].tool_calls[0]",
        ),
        (named, |body| body["messages"][2]["refusal"] = json!("No."), "message_inserted", "messages[2].refusal"),
        (phased, |body| body["input"][0]["phase"] = json!("final_answer"), "message_edited", "input[0].phase"),
        (
            phased,
            |body| body["input"][0]["content"][1]["image_url"] = json!("data:image/png;base64,AAAB"),
            "image_changed",
            "input[0].content[1]",
        ),
        (phased, |body| body["input"][1]["namespace"] = json!("shell"), "message_edited", "input[1]"),
        (
            phased,
            |body| body["input"][0]["content"][0]["annotations"] = json!([{"type": "url_citation"}]),
            "message_edited",
            "input[0].content[0]",
        ),
    ];
    for (body, change, cause, path) in table {
        assert_eq!(told(&changed(body, change)), [(cause, path, Some("input_changed"))]);
    }
    // Empty values have no effect.
    let outcome = changed(phased, |body| body["input"][0]["content"][0]["annotations"] = json!([]));
    assert_eq!(outcome.report.findings, []);
}

/// A client repeats its note after the newest message: the note moves with every turn, and nothing else changes. A short one costs
/// only itself.
#[test]
fn a_note_that_is_kept_at_the_end_is_one_change() {
    fn noted(turns: usize, words: &str) -> Value {
        let mut body = chat(turns);
        let note = json!({"role": "system", "content": words});
        body["messages"].as_array_mut().into_iter().for_each(|messages| messages.push(note.clone()));
        body
    }
    let moved = |at: &'static str| ("message_moved", at, Some("input_changed"));
    assert_eq!(
        told(&changed(|turns| noted(turns, &long("plan")), |_| ())),
        ["messages[2].tool_calls[0]", "messages[4].tool_calls[0]", "messages[6].tool_calls[0]"].map(moved)
    );
    assert_eq!(told(&changed(|turns| noted(turns, "Keep the plan up to date."), |_| ())), []);
}

/// The provider sets the breakpoints: they are neither too many, nor does one of them move.
#[test]
fn a_lock_of_these_bodies_has_no_breakpoints() {
    let lock = |body: &Value| Folder::new(&[("1.json", body.to_string())]).check().1.lock.unwrap();
    let pinned = Lock::parse(&lock(&chat(4)).text()).unwrap();
    let found = equality(&pinned, &lock(&chat(5)), &Rules::default());
    assert!(found.findings.iter().all(|finding| finding.cause == Cause::MessageInserted), "{:#?}", found.findings);
    assert_eq!(found.notes, []);
}

#[test]
fn agents_that_differ_from_their_first_request_on_are_compared() {
    type Own = fn(&mut Value, usize);
    let table: [(Own, Told<'_>); 2] = [
        (
            |body, at| {
                let rule = long("rule");
                let id = ["5d8a1b2c", "c03f77e9"][at];
                body["messages"][0]["content"] = json!(format!("You are agent-{id}. {rule}"));
            },
            ("system_changed", "messages[0].content[0]", Some("input_changed")),
        ),
        (
            |body, at| body["prompt_cache_key"] = json!(format!("agent-{at}")),
            ("level_parameter", "prompt_cache_key", Some("prompt_cache_key_changed")),
        ),
    ];
    for (own, expected) in table {
        let agent = |at: usize| {
            let mut body = chat(1);
            body["messages"][1]["content"] = json!(format!("What of part {at}?"));
            own(&mut body, at);
            body.to_string()
        };
        let (_, outcome) = Folder::new(&[("left/1.json", agent(0)), ("right/1.json", agent(1))]).check();
        assert!(outcome.report.findings.iter().all(|finding| finding.rule == Rule::Siblings));
        assert_eq!(told(&outcome), [expected]);
    }
}

/// A body as Codex CLI sends it to models that get their tools in the input.
fn carried(turns: usize) -> Value {
    let mut body = response(turns);
    let tools = body["tools"].take();
    let developer = json!({"type": "message", "role": "developer", "content": [
        {"type": "input_text", "text": "House rules."}, {"type": "input_text", "text": long("permission")}]});
    let carrier = json!({"type": "additional_tools", "role": "developer", "tools": tools});
    let items = body["input"].as_array_mut().into_iter();
    items.for_each(|items| drop(items.splice(0..0, [carrier.clone(), developer.clone()])));
    body.as_object_mut().into_iter().for_each(|body| drop(body.remove("tools")));
    body
}

#[test]
fn paths_are_those_of_the_body_that_was_sent() {
    type Change = fn(&mut Value);
    let table: [(Change, &str, &str); 6] = [
        (|body| body["instructions"] = json!(long("order")), "system_changed", "instructions"),
        (|body| body["input"][1]["content"][1]["text"] = json!("None."), "system_changed", "input[1].content[1]"),
        (
            |body| body["input"][0]["tools"][0]["description"] = json!("Reads a file."),
            "tool_changed",
            "input[0].tools[0]",
        ),
        (|body| body["input"][2]["content"][0]["text"] = json!("When?"), "message_edited", "input[2].content[0]"),
        (|body| body["input"][3]["arguments"] = json!("{}"), "message_edited", "input[3]"),
        (|body| body["input"][4]["output"] = json!(format!("part one{FILE}")), "message_edited", "input[4]"),
    ];
    for (change, cause, path) in table {
        assert_eq!(told(&changed(carried, change)), [(cause, path, told_by_openai(cause))]);
    }
    // If the newer body ends earlier, the path is that of the older one.
    let shorter = changed(carried, |body| {
        let content = body["input"][1]["content"].as_array_mut();
        content.into_iter().for_each(|content| content.truncate(1));
    });
    assert_eq!(told(&shorter), [("system_changed", "input[1].content[1]", Some("input_changed"))]);
}

fn told_by_openai(cause: &str) -> Option<&'static str> {
    Some(if cause == "tool_changed" { "tools_changed" } else { "input_changed" })
}

/// Calls with arguments of two keys.
const KEYS: [&str; 2] = [r#"{"part":1,"whole":false}"#, r#"{"whole":false,"part":1}"#];

#[test]
fn arguments_with_their_keys_in_another_order_are_so_called_in_either_spelling() {
    let response = |turns| with_arguments(response(turns), "/input/1/arguments", KEYS[0]);
    let chat = |turns| with_arguments(chat(turns), "/messages/2/tool_calls/0/function/arguments", KEYS[0]);
    let of_a_response = changed(response, |body| *body = with_arguments(body.take(), "/input/1/arguments", KEYS[1]));
    let path = "/messages/2/tool_calls/0/function/arguments";
    let of_a_chat = changed(chat, |body| *body = with_arguments(body.take(), path, KEYS[1]));
    assert_eq!(told(&of_a_response), [("key_order", "input[1]", Some("input_changed"))]);
    assert_eq!(told(&of_a_chat), [("key_order", "messages[2].tool_calls[0]", Some("input_changed"))]);
    // Other arguments of the same length are another call.
    let other = r#"{"part":2,"whole":false}"#;
    let edited = changed(response, |body| *body = with_arguments(body.take(), "/input/1/arguments", other));
    assert_eq!(told(&edited), [("message_edited", "input[1]", Some("input_changed"))]);
}

/// The body with these arguments of its first call, if it has one.
fn with_arguments(mut body: Value, path: &str, arguments: &str) -> Value {
    body.pointer_mut(path).into_iter().for_each(|old| *old = arguments.into());
    body
}

#[test]
fn stored_responses_of_the_provider_are_not_compared() {
    let mut next = response(2);
    next["previous_response_id"] = json!("resp_1");
    let folder = Folder::new(&[("0.json", response(1).to_string()), ("1.json", next.to_string())]);
    let (fed, outcome) = folder.check();
    assert_eq!((fed.requests, breaks(&outcome)), (1, vec![]));
    assert!(fed.unchecked[0].told().contains("goes on from a response"), "{:?}", fed.unchecked);
}

#[test]
fn two_messages_that_a_client_joins_are_another_prompt() {
    let asks_twice = |turns: usize| {
        let mut body = chat(turns);
        let more = json!({"role": "user", "content": "In the newest version."});
        body["messages"].as_array_mut().unwrap().insert(2, more);
        body
    };
    let outcome = changed(asks_twice, |body| {
        body["messages"].as_array_mut().unwrap().remove(2);
        body["messages"][1]["content"] = json!("Why?\nIn the newest version.");
    });
    assert_eq!(told(&outcome), [("message_edited", "messages[1].content[0]", Some("input_changed"))]);
    let outcome = changed(asks_twice, |_| ());
    assert_eq!(told(&outcome), []);
}

#[test]
fn what_the_provider_encrypted_no_client_compacted() {
    let outcome = changed(response, |body| {
        let input = body["input"].as_array_mut().unwrap();
        let summary = json!({"type": "compaction", "encrypted_content": "gAAAA".repeat(40)});
        input.splice(1..3, [summary]);
    });
    assert_eq!(told(&outcome), []);
    assert!(outcome.report.findings.iter().any(|finding| finding.cause == Cause::Compacted));
}
