//! Bodies for providers that say nothing of what their caches go by: compared in a translation, with the paths that were
//! sent.

use serde_json::{Value, json};

use super::stage::{Folder, long};
use forkcast_replay::check::Outcome;
use forkcast_replay::source::Fed;
use forkcast_sim::guard::Rules;

/// What all versions of a result have in common.
const FILE: &str = " of the file that was asked for, with all of its lines";

/// A conversation of `turns` questions for Gemini.
fn gemini(turns: usize) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": "Why does the parser fail?"}]})];
    for turn in 1..turns {
        contents.push(json!({"role": "model", "parts": [
            {"text": "Let me see.", "thought": true}, 
            {"functionCall": {"name": "read", "args": {"part": turn, "of": 9}}, "thoughtSignature": format!("signed {turn}")}]}));
        contents.push(json!({"role": "user", "parts": [
            {"functionResponse": {"name": "read", "response": {"output": format!("part {turn}{FILE}")}}}]}));
    }
    json!({"model": "gemini-2.5-pro", "systemInstruction": {"parts": [{"text": long("rule")}]}, "contents": contents,
        "tools": [{"functionDeclarations": [{"name": "read", "description": "Reads.", "parameters": {"type": "OBJECT"}},
            {"name": "write", "description": "Writes."}]}, {"googleSearch": {}}],
        "generationConfig": {"temperature": 0.5}})
}

/// As DeepSeek and Moonshot want reasoning back.
fn reasoned(turns: usize) -> Value {
    let mut messages =
        vec![json!({"role": "system", "content": long("rule")}), json!({"role": "user", "content": "Why?"})];
    for turn in 1..turns {
        messages.push(json!({"role": "assistant", "content": "", "reasoning_content": format!("Part {turn} is next."),
            "tool_calls": [{"id": format!("c{turn}"), "type": "function", "function": {"name": "read", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": format!("part {turn}")}));
    }
    json!({"model": "deepseek-chat", "messages": messages,
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {}}}]})
}

/// The Messages API as makers of other models offer it.
fn messages(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Why?"})];
    for turn in 1..turns {
        messages
            .push(json!({"role": "assistant", "content": [{"type": "text", "text": format!("Part {turn} is next.")}]}));
        messages.push(json!({"role": "user", "content": format!("Go on after {turn}{FILE}")}));
    }
    json!({"model": "kimi-k2-0905-preview", "max_tokens": 9, "system": long("rule"), "messages": messages})
}

fn cohere(turns: usize) -> Value {
    let mut history = Vec::new();
    for turn in 1..turns {
        history.push(json!({"role": "USER", "message": format!("Question {turn}?")}));
        history.push(json!({"role": "CHATBOT", "message": format!("Answer {turn}.")}));
    }
    json!({"model": "command-r-plus", "preamble": long("rule"), "chat_history": history, "message": format!("Question {turns}?")})
}

fn ollama(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "system", "content": long("rule")})];
    for turn in 1..=turns {
        messages.push(json!({"role": "user", "content": format!("Question {turn}?")}));
        messages.push(json!({"role": "assistant", "content": format!("Answer {turn}."), "thinking": "Hm."}));
    }
    messages.pop();
    json!({"model": "llama3.2", "messages": messages, "options": {"num_ctx": 4096}})
}

fn nova(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": [{"text": "Why?"}]})];
    for turn in 1..turns {
        messages.push(json!({"role": "assistant", "content": [{"text": format!("Part {turn} is next.")}]}));
        messages.push(json!({"role": "user", "content": [{"text": format!("Go on after {turn}.")}]}));
    }
    json!({"modelId": "amazon.nova-pro-v1:0", "system": [{"text": long("rule")}], "messages": messages,
        "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}]}})
}

type Body = fn(usize) -> Value;
type Change = fn(&mut Value);

/// Takes a member out of an object.
fn member(object: &mut Value, name: &str) -> Option<Value> {
    object.as_object_mut()?.remove(name)
}

/// Four turns; `change` changes the last two.
fn changed(body: Body, change: Change) -> (Fed, Outcome) {
    let mut bodies: Vec<Value> = (1..=4).map(body).collect();
    bodies[2..].iter_mut().for_each(change);
    let files: Vec<(String, String)> =
        bodies.iter().enumerate().map(|(at, body)| (format!("{at}.json"), body.to_string())).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    Folder::new(&files).check()
}

#[test]
fn a_conversation_that_only_grows_keeps_its_prefix() {
    for body in [gemini, reasoned, messages, cohere, ollama, nova] {
        let (fed, outcome) = changed(body, |_| ());
        assert_eq!((fed.requests, outcome.report.chains), (4, 1), "{:?} {:?}", fed.unchecked, fed.inputs.unreadable);
        let breaks = outcome.report.findings.iter().filter(|finding| finding.breaks_prefix);
        assert_eq!(breaks.count(), 0, "{:#?}", outcome.report.findings);
        assert_eq!((fed.remarks.openai, fed.remarks.unprofiled.values().sum::<usize>()), (0, 4));
        assert!(
            fed.remarks.told()[0].contains("the rules of its cache are not known here"),
            "{:?}",
            fed.remarks.told()
        );
    }
}

/// The change, and the expected cause and path.
const CHANGES: [(Body, Change, &str, &str); 29] = [
    (gemini, |body| body["model"] = json!("gemini-2.5-flash"), "model_changed", "model"),
    (gemini, |body| body["cachedContent"] = json!("cachedContents/a"), "level_parameter", "cachedContent"),
    (
        gemini,
        |body| body["tools"][0]["functionDeclarations"][0]["description"] = json!("Reads a file."),
        "tool_changed",
        "tools[0].functionDeclarations[0]",
    ),
    (
        gemini,
        |body| {
            body["tools"][0]["functionDeclarations"].as_array_mut().into_iter().for_each(|tools| tools.swap(0, 1));
        },
        "tools_reordered",
        "tools[0].functionDeclarations[0]",
    ),
    (gemini, |body| drop(body["tools"].as_array_mut().map(Vec::pop)), "tools_removed", "tools[1]"),
    (
        gemini,
        |body| body["systemInstruction"]["parts"][0]["text"] = json!(long("order")),
        "system_changed",
        "systemInstruction.parts[0]",
    ),
    (
        gemini,
        |body| body["contents"][1]["parts"][0]["text"] = json!("Let me look."),
        "message_edited",
        "contents[1].parts[0]",
    ),
    (
        gemini,
        |body| body["contents"][1]["parts"][1]["functionCall"]["args"]["part"] = json!(7),
        "message_edited",
        "contents[1].parts[1]",
    ),
    (
        gemini,
        |body| {
            body["contents"][2]["parts"][0]["functionResponse"]["response"]["output"] =
                json!(format!("part one{FILE}"));
        },
        "message_edited",
        "contents[2].parts[0]",
    ),
    (
        gemini,
        |body| drop(member(&mut body["contents"][1]["parts"][1], "thoughtSignature")),
        "thinking_stripped",
        "contents[1].parts[1]",
    ),
    (
        gemini,
        |body| body["contents"][1]["parts"][1]["thoughtSignature"] = json!("signed otherwise"),
        "message_edited",
        "contents[1].parts[1]",
    ),
    (
        gemini,
        |body| drop(body["contents"][1]["parts"].as_array_mut().map(|parts| parts.remove(0))),
        "thinking_stripped",
        "contents[1].parts[0]",
    ),
    (reasoned, |body| body["messages"][1]["name"] = json!("ada"), "message_edited", "messages[1].name"),
    (reasoned, |body| body["messages"][2]["prefix"] = json!(true), "message_edited", "messages[2].prefix"),
    (
        reasoned,
        |body| {
            let context = json!({"role": "user", "content": "It is Friday."});
            body["messages"].as_array_mut().into_iter().for_each(|messages| messages.insert(2, context.clone()));
        },
        "message_inserted",
        "messages[2].content[0]",
    ),
    (
        reasoned,
        |body| drop(member(&mut body["messages"][2], "reasoning_content")),
        "thinking_stripped",
        "messages[2].tool_calls[0]",
    ),
    (
        reasoned,
        |body| body["messages"][2]["reasoning_content"] = json!("Let me see."),
        "message_edited",
        "messages[2].reasoning_content",
    ),
    (
        reasoned,
        |body| body["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{\"a\": 1}"),
        "message_edited",
        "messages[2].tool_calls[0]",
    ),
    (reasoned, |body| body["prompt_cache_key"] = json!("other"), "level_parameter", "prompt_cache_key"),
    (
        reasoned,
        |body| body["messages"][0]["content"] = json!(long("order")),
        "system_changed",
        "messages[0].content[0]",
    ),
    (messages, |body| body["system"] = json!(long("order")), "system_changed", "system[0]"),
    (
        messages,
        |body| body["messages"][2]["content"] = json!(format!("Go on after one{FILE}")),
        "message_edited",
        "messages[2].content[0]",
    ),
    (cohere, |body| body["preamble"] = json!(long("order")), "system_changed", "preamble"),
    (cohere, |body| body["chat_history"][1]["message"] = json!("No."), "message_edited", "chat_history[1]"),
    (ollama, |body| body["messages"][2]["thinking"] = json!("Well."), "message_edited", "messages[2].thinking"),
    (ollama, |body| body["messages"][2]["content"] = json!("No."), "message_edited", "messages[2].content[0]"),
    (nova, |body| body["system"][0]["text"] = json!(long("order")), "system_changed", "system[0]"),
    (nova, |body| body["messages"][1]["content"][0]["text"] = json!("No."), "message_edited", "messages[1].content[0]"),
    (
        nova,
        |body| body["toolConfig"]["tools"][0]["toolSpec"]["description"] = json!("Reads."),
        "tool_changed",
        "toolConfig.tools[0]",
    ),
];

#[test]
fn every_change_is_reported_with_the_path_that_was_sent() {
    for (body, change, cause, path) in CHANGES {
        let (_, outcome) = changed(body, change);
        let broken = outcome.report.findings.iter().filter(|finding| finding.breaks_prefix);
        let told: Vec<_> =
            broken.map(|finding| (finding.cause.word(), finding.path.as_str(), finding.provider_reason())).collect();
        assert_eq!(told, [(cause, path, None)]);
    }
}

#[test]
fn fields_outside_the_prompt_break_nothing() {
    let table: [(Body, Change); 7] = [
        (gemini, |body| body["generationConfig"]["temperature"] = json!(1.0)),
        (gemini, |body| body["safetySettings"] = json!([{"category": "HARM_CATEGORY_HARASSMENT"}])),
        (reasoned, |body| body["max_tokens"] = json!(10)),
        (ollama, |body| body["options"]["num_ctx"] = json!(8192)),
        // A marker beside the role, where nobody reads it.
        (reasoned, |body| body["messages"][1]["cache_control"] = json!({"type": "ephemeral"})),
        // These change the end of the prompt, if anything.
        (reasoned, |body| body["thinking"] = json!({"type": "disabled"})),
        (ollama, |body| body["chat_template_kwargs"] = json!({"enable_thinking": false})),
    ];
    for (body, change) in table {
        assert_eq!(changed(body, change).1.report.findings, []);
    }
}

/// Settings that the templates of some models write at the head of the prompt: the model, a setting and another, and the path if
/// they differ there.
const HEADS: [(&str, [&str; 2], Option<&str>); 15] = [
    ("glm-5.3-flash", ["", r#""chat_template_kwargs":{"thinking":false}"#], Some("chat_template_kwargs.thinking")),
    ("zai-org/GLM-5.3", ["", r#""thinking":{"type":"disabled"}"#], Some("thinking.type")),
    ("glm-5.2", ["", r#""enable_thinking":true"#], None),
    ("glm-5.2", [r#""reasoning_effort":"max""#, r#""reasoning_effort":"high""#], Some("reasoning_effort")),
    ("glm-5.2", ["", r#""reasoning_effort":"max""#], None),
    ("glm-4.7", ["", r#""thinking":{"type":"disabled"}"#], None),
    ("Qwen/Qwen3.8-27B", ["", r#""reasoning_effort":"low""#], Some("reasoning_effort")),
    ("qwen3.8-max", ["", r#""enable_thinking":false"#], Some("enable_thinking")),
    ("qwen3.6-27b", ["", r#""enable_thinking":false"#], None),
    ("qwen3.6-27b", ["", r#""reasoning_effort":"low""#], None),
    ("deepseek-v4-pro", ["", r#""reasoning_effort":"max""#], Some("reasoning_effort")),
    ("deepseek-v4-pro", ["", r#""reasoning_effort":"high""#], None),
    ("deepseek-v4-pro", [r#""reasoning_effort":"low""#, r#""reasoning_effort":"high""#], None),
    ("deepseek-v4-pro", ["", r#""thinking":{"type":"disabled"}"#], None),
    ("openai/gpt-oss-120b", ["", r#""reasoning_effort":"high""#], Some("reasoning_effort")),
];

#[test]
fn what_templates_write_at_the_head_of_a_prompt_is_part_of_it() {
    for (model, settings, path) in HEADS {
        let body = |turns: usize| {
            let mut body = reasoned(turns);
            body["model"] = json!(model);
            let setting: Value = serde_json::from_str(&format!("{{{}}}", settings[usize::from(turns > 2)])).unwrap();
            body.as_object_mut().unwrap().extend(setting.as_object().unwrap().clone());
            body.to_string()
        };
        let files: Vec<(String, String)> = (1..=4).map(|turns| (format!("{turns}.json"), body(turns))).collect();
        let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let (_, outcome) = Folder::new(&files).check();
        let told: Vec<_> =
            outcome.report.findings.iter().map(|found| (found.cause.word(), found.path.as_str())).collect();
        let expected: Vec<_> = path.into_iter().map(|path| ("level_parameter", path)).collect();
        assert_eq!(told, expected, "{model} {settings:?}");
    }
}

/// zeroclaw-labs/zeroclaw#7312, 2026-06.
#[test]
fn a_cache_point_for_a_model_without_caching_is_refused() {
    let with = |model: &str| {
        let mut body = nova(2);
        body["modelId"] = json!(model);
        body["system"] = json!([{"text": long("rule")}, {"cachePoint": {"type": "default"}}]);
        let (_, outcome) = Folder::new(&[("0.json", body.to_string())]).check();
        outcome.report.violations
    };
    for model in ["qwen.qwen3-coder-next", "us.deepseek.r1-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0"] {
        let violations = with(model);
        let [violation] = violations.as_slice() else { panic!("{model}: {violations:?}") };
        assert!(violation.found.contains("did not allow prompt caching"), "{}", violation.found);
    }
    for model in ["us.amazon.nova-pro-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"] {
        assert!(with(model).is_empty(), "{model}");
    }
}

/// Bodies as they are sent one after the other.
fn sent(bodies: &[Value]) -> Outcome {
    let files: Vec<(String, String)> =
        bodies.iter().enumerate().map(|(at, body)| (format!("{at:02}.json"), body.to_string())).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    Folder::new(&files).check().1
}

fn chat(messages: &[Value]) -> Value {
    json!({"model": "deepseek-chat", "messages": messages})
}

fn breaks(bodies: &[Value]) -> usize {
    sent(bodies).report.findings.iter().filter(|finding| finding.breaks_prefix).count()
}

#[test]
fn a_constant_reminder_behind_each_state_breaks_nothing() {
    let system = json!({"role": "system", "content": long("rule")});
    let reminder =
        |words: usize| json!({"role": "user", "content": "Keep to the plan, and say what is left. ".repeat(words)});
    let bodies = |words: usize, stays: bool| -> Vec<Value> {
        (1..5)
            .map(|turns| {
                let mut messages = vec![system.clone()];
                for turn in 0..turns {
                    messages.push(json!({"role": "user", "content": format!("Question {turn}, which is a long one.")}));
                    if turn + 1 == turns || stays && turn == 0 {
                        messages.push(reminder(words));
                    }
                    messages.push(
                        json!({"role": "assistant", "content": format!("Answer {turn}, as long as it has to be.")}),
                    );
                }
                messages.pop();
                chat(&messages)
            })
            .collect()
    };
    assert_eq!(breaks(&bodies(8, false)), 0);
    // As long as a prefix that is worth reading: it could come first.
    assert!(breaks(&bodies(400, false)) > 0);
    assert_eq!(breaks(&bodies(8, true)), 0);
}

/// open-webui's tags and follow-up questions, 2026.
#[test]
fn two_helpers_over_one_transcript_continue_none_of_each_other() {
    let transcript = |turns: usize| -> String {
        (0..turns).map(|turn| format!("USER: {}\nASSISTANT: {}\n", long("question"), turn)).collect()
    };
    let ask = |task: &str, turns: usize| {
        let rules = format!("{task} Give the answer as JSON, and nothing else. ").repeat(6);
        chat(&[
            json!({"role": "user", "content": format!("### Task:\n{task} {rules}\n{}\n### Output of {task}", transcript(turns))}),
        ])
    };
    let bodies: Vec<Value> = (1..5)
        .flat_map(|turns| [ask("Suggest tags.", turns), ask("Generate follow-ups for the user.", turns)])
        .collect();
    let report = sent(&bodies).report;
    assert_eq!(report.chains, 8);
    assert!(report.passes(&Rules::default()), "{:?}", report.findings);
}
