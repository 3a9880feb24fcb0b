//! Healthy traffic: no finding that fails and no violation (`healthy.yaml`).

use forkcast_sim::guard::Rules;
use serde::Deserialize;
use serde_json::{Value, json};

use super::conversation::{body, check, mark_end, message, text, unmark};

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    sends: Vec<String>,
}

/// The body that words describe: `main 2 thinking`.
fn sent(words: &str) -> Value {
    let mut words = words.split(' ');
    let (agent, turns) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
    let mut sent = body(turns);
    become_agent(&mut sent, agent);
    words.for_each(|word| change(&mut sent, word));
    sent
}

fn become_agent(sent: &mut Value, agent: &str) {
    let tool = |name: &str| json!({"name": name, "description": text(name, 300), "input_schema": {"type": "object"}});
    let marked =
        |words: &str| json!([{"type": "text", "text": text(words, 1_500), "cache_control": {"type": "ephemeral"}}]);
    match agent {
        "main" => return,
        "left" | "right" => {
            sent["messages"][0] = message("user", agent);
            if sent["messages"].as_array().unwrap().len() == 1 {
                mark_end(sent);
            }
            return;
        }
        "router" | "title" => {
            sent["model"] = json!("claude-haiku-4-5");
            sent["tools"] = json!([tool(&format!("{agent} it"))]);
        }
        "speaker" => {
            sent["model"] = json!("claude-haiku-4-5");
            sent["tools"] = json!([]);
        }
        "hello" | "greeting" | "farewell" => sent["tools"] = json!([]),
        // Their prompts differ in a letter.
        "clerk-a" | "clerk-b" | "clerk-c" => {
            sent["system"] = marked("the rules of clerks");
            sent["system"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({"type": "text", "text": format!("You are {agent}.")}));
            let said = agent.replace("clerk", "answer of");
            for answer in sent["messages"].as_array_mut().unwrap().iter_mut().filter(|it| it["role"] == "assistant") {
                answer["content"][0]["text"] = json!(text(&said, 50));
            }
            return;
        }
        _ => sent["tools"] = json!([tool(&format!("{agent} reads")), tool(&format!("{agent} ends"))]),
    }
    sent["system"] = marked(&format!("the rules of a {agent}"));
}

fn change(sent: &mut Value, word: &str) {
    let thinks = |value: &Value| value["role"] == "assistant";
    match word {
        "count" => drop(sent.as_object_mut().unwrap().remove("max_tokens")),
        "stream" => sent["stream"] = json!(true),
        "longer" => sent["max_tokens"] = json!(2_000),
        "user" => sent["metadata"] = json!({"user_id": "u2"}),
        "string" => sent["messages"][0]["content"] = sent["messages"][0]["content"][0]["text"].take(),
        "hour" => hour(sent),
        "two" => {
            let messages = sent["messages"].as_array_mut().unwrap();
            let last = messages.len() - 1;
            for message in &mut messages[last.saturating_sub(2)..] {
                message["content"].as_array_mut().unwrap().last_mut().unwrap()["cache_control"] =
                    json!({"type": "ephemeral"});
            }
            sent["system"][1].as_object_mut().unwrap().remove("cache_control");
        }
        "search" => {
            sent["tools"].as_array_mut().unwrap().push(json!({"type": "web_search_20250305", "name": "web_search"}));
        }
        "thinking" | "binding" => {
            sent["model"] = json!(if word == "binding" { "claude-fable-5-2" } else { "claude-opus-4-8" });
            sent["thinking"] = json!({"type": "adaptive"});
            for (at, said) in sent["messages"].as_array_mut().unwrap().iter_mut().filter(|it| thinks(it)).enumerate() {
                let thought = json!({"type": "thinking", "thinking": "", "signature": format!("signed {at}")});
                said["content"].as_array_mut().unwrap().insert(0, thought);
            }
        }
        "clears" => manage(sent, &json!({"type": "clear_thinking_20251015"})),
        "small" => {
            change(sent, "thinking");
            sent["model"] = json!("claude-haiku-4-5");
        }
        "keeps" => {
            manage(sent, &json!({"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}}));
        }
        "results" => manage(sent, &json!({"type": "clear_tool_uses_20250919"})),
        "compacts" => manage(sent, &json!({"type": "compact_20260112"})),
        "deferred" => {
            let tool = json!({"name": "late", "description": "", "input_schema": {}, "defer_loading": true});
            sent["tools"].as_array_mut().unwrap().push(tool);
        }
        "stops" => sent["stop_sequences"] = json!(["END"]),
        "formatted" => sent["output_config"] = json!({"format": {"type": "json_schema", "schema": {"type": "object"}}}),
        "dated" => sent["model"] = json!("claude-sonnet-4-5-20250929"),
        "automatic" => {
            unmark(sent);
            sent["system"][1].as_object_mut().unwrap().remove("cache_control");
            sent["cache_control"] = json!({"type": "ephemeral"});
        }
        _ => change_messages(sent["messages"].as_array_mut().unwrap(), word),
    }
    if matches!(word, "steered" | "fork-left" | "fork-right" | "on") {
        mark_end(sent);
    }
}

fn change_messages(messages: &mut Vec<Value>, word: &str) {
    match word {
        "summed" => {
            let summary = json!({"type": "compaction", "content": text("summary", 80)});
            messages[5]["content"].as_array_mut().unwrap().insert(0, summary);
        }
        // Each turn's call and result are of other letters, so that nothing looks like an edited part of another.
        "unlike" => {
            for (at, message) in messages.iter_mut().enumerate() {
                let letter = char::from(b'a' + u8::try_from(at).unwrap()).to_string();
                for block in message["content"].as_array_mut().unwrap() {
                    match block["type"].as_str().unwrap() {
                        "tool_use" => block["input"] = json!({letter.repeat(9): letter.repeat(60)}),
                        "tool_result" => block["content"] = json!(format!("{letter} ").repeat(400)),
                        _ => {}
                    }
                }
            }
        }
        "shown" => {
            let image =
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
            let source = json!({"type": "text", "media_type": "text/plain", "data": text("page", 80)});
            let shown = [image, json!({"type": "document", "source": source, "citations": {"enabled": true}})];
            messages[0]["content"].as_array_mut().unwrap().splice(0..0, shown);
        }
        "asks" => {
            messages.splice(3..3, [message("assistant", "done"), message("user", "what else")]);
        }
        // As the provider does itself.
        "drops" => {
            let last =
                messages.iter().rposition(|it| it["content"][0]["type"] == "text" && it["role"] == "user").unwrap();
            for said in messages[..last].iter_mut().filter(|it| it["role"] == "assistant") {
                said["content"].as_array_mut().unwrap().retain(|block| block["type"] != "thinking");
            }
        }
        "begun" => messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "{"}]})),
        "steered" => {
            messages[2]["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": "And test it."}));
        }
        "cited" => {
            for (at, said) in messages.iter_mut().enumerate().filter(|(_, it)| it["role"] == "assistant") {
                let id = format!("srvtoolu_{at}");
                let query = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": at}});
                let page = json!({"type": "web_search_result", "url": "https://a.example", "encrypted_content": "AA"});
                let found = json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [page]});
                said["content"].as_array_mut().unwrap().splice(0..0, [query, found]);
            }
        }
        "fork-left" | "fork-right" => {
            let mut next = body(messages.len() / 2 + 1)["messages"].as_array_mut().unwrap().split_off(messages.len());
            next[1]["content"][0]["content"] = json!("started");
            next[1]["content"].as_array_mut().unwrap().push(message("user", word)["content"][0].take());
            messages.extend(next);
        }
        "on" => {
            let own = messages.last().unwrap()["content"][1]["text"].as_str().unwrap().to_owned();
            messages.extend([message("assistant", &format!("answer to {own}")), message("user", "what else")]);
        }
        "other" => {
            for said in messages.iter_mut().filter(|it| it["role"] == "assistant") {
                said["content"][0]["text"] = json!(format!("Otherwise: {}", said["content"][0]["text"]));
            }
        }
        _ => say_otherwise(messages, word),
    }
}

fn say_otherwise(messages: &mut Vec<Value>, word: &str) {
    match word {
        "quiz-a" | "quiz-b" | "quiz-c" => {
            messages.truncate(2);
            messages[1] = message("assistant", "an example of an answer");
            messages.push(message("user", word));
            let cue = "Answer with one word, and do not explain it.";
            messages[2]["content"][0]["text"] = json!(format!("{} {cue}", text(word, 40)));
        }
        "late-a" | "late-b" => {
            for (at, said) in messages.iter_mut().enumerate() {
                let role = said["role"].as_str().unwrap().to_owned();
                *said = message(&role, &format!("{word} {at}"));
            }
            mark_last(messages);
        }
        _ => panic!("unknown word {word}"),
    }
}

fn mark_last(messages: &mut [Value]) {
    let content = messages.last_mut().unwrap()["content"].as_array_mut().unwrap();
    content.last_mut().unwrap()["cache_control"] = json!({"type": "ephemeral"});
}

fn manage(sent: &mut Value, edit: &Value) {
    sent["context_management"] = json!({"edits": [edit]});
}

/// Makes all breakpoints last an hour.
fn hour(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(marker) = members.get_mut("cache_control") {
                marker["ttl"] = json!("1h");
            }
            members.values_mut().for_each(hour);
        }
        Value::Array(list) => list.iter_mut().for_each(hour),
        _ => {}
    }
}

#[test]
fn healthy_traffic_raises_no_alarm() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("healthy.yaml")).unwrap();
    assert!(cases.len() >= 24, "{} cases", cases.len());
    let mut alarms = Vec::new();
    for case in &cases {
        let bodies: Vec<Value> = case.sends.iter().map(|words| sent(words)).collect();
        let report = check(&bodies);
        let rules = Rules::default();
        for found in report.findings.iter().filter(|found| rules.forbid(found)) {
            alarms.push(format!("{}: {} {} of request {}", case.name, found.cause, found.path, found.request));
        }
        alarms.extend(report.violations.iter().map(|violation| format!("{}: {violation}", case.name)));
        assert_eq!(report.passes(&rules), report.failing(&rules).count() + report.violations.len() == 0);
    }
    assert!(alarms.is_empty(), "{alarms:#?}");
}

/// The alarm would be raised: the same conversations with one word of the system prompt changed.
#[test]
fn a_changed_system_prompt_raises_one_in_each_conversation_that_goes_on() {
    let bodies = [sent("main 0"), sent("router 0"), sent("main 1")];
    assert!(check(&bodies).passes(&Rules::default()));
    let [first, router, mut second] = bodies;
    second["system"][0]["text"] = json!("Today is 2026-11-21. Be brief.");
    let report = check(&[first, router, second]);
    assert_eq!(report.failing(&Rules::default()).count(), 1);
}
