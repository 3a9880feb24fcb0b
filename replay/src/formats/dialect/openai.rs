//! Chat completions and responses of `OpenAI` and of other providers with the same API (including Cohere's second chat
//! and Ollama's), translated so that the guard can compare two requests.
//!
//! Each message or input item keeps its number. Leading system and developer messages, and `instructions` before them,
//! are the system prompt; their places are left empty. Item ids and states are not part of the prompt: Codex CLI renews
//! them for the same text (`clients.md` 6, version 0.169.0). Only a reference to an item that the provider keeps has
//! nothing but its id.

use forkcast_sim::wire::{Maker, TRANSLATED_SETTINGS};

use super::super::value::Value;
use super::{Levels, Part, Translated, Turn, indexed, note_starts, openrouter, push, put, text_block};

/// Settings that are part of a prompt's identity (`OpenAI` prompt-caching guide, "cache-affecting settings", and its
/// page on diagnostics, 2026-09), by their paths in a body of either spelling, with the default value.
const SETTINGS: [(&str, &str); 10] = [
    ("prompt_cache_key", ""),
    ("service_tier", "\"auto\""),
    ("reasoning.effort", ""),
    ("reasoning_effort", ""),
    ("text.format", "{\"type\":\"text\"}"),
    ("response_format", "{\"type\":\"text\"}"),
    ("text.verbosity", ""),
    ("verbosity", ""),
    ("parallel_tool_calls", "true"),
    ("context_management", ""),
];

/// The settings that other providers are known to use: the key decides which server is asked (xAI, docs.x.ai, 2026-09), and the
/// arguments of a template are for what it writes.
const SETTINGS_OF_OTHERS: [(&str, &str); 2] = [("prompt_cache_key", ""), ("chat_template_kwargs.reasoning_effort", "")];

/// What a model's template writes at the head of its prompt.
struct Head {
    /// A part of the model's name.
    model: &'static str,
    /// The efforts for which it is what it is without any.
    efforts: &'static [&'static str],
    /// It is not written if thinking is off, so that this too is another head.
    only_if_thinking: bool,
}

/// The models whose templates write the effort before everything else (all read 2026-11). GLM: sglang 28454, ms-swift 9581, and
/// reports of full prefills, GLM-5.3-Flash-EXL3 63 and 111. Qwen 3.8: PrimeIntellect's renderers 132, LlamaFactory 10785; older ones
/// change only the end of a prompt. DeepSeek: llama.cpp 26398; its API takes low and medium for high. gpt-oss: harmony, the guide to
/// its format.
const HEADS: [Head; 5] = [
    Head { model: "glm-5.2", efforts: &["\"max\""], only_if_thinking: true },
    Head { model: "glm-5.3", efforts: &["\"max\""], only_if_thinking: true },
    Head { model: "qwen3.8", efforts: &["\"xhigh\""], only_if_thinking: true },
    Head { model: "deepseek-v4", efforts: &["\"low\"", "\"medium\"", "\"high\""], only_if_thinking: false },
    Head { model: "gpt-oss", efforts: &["\"medium\""], only_if_thinking: false },
];

/// Where a request says the effort: to the provider, to a router, to a server's template.
const EFFORTS: [&str; 3] = ["reasoning_effort", "reasoning.effort", "chat_template_kwargs.reasoning_effort"];

/// Where it switches thinking off, and what it says otherwise.
const THINKING: [(&str, &str); 4] = [
    ("thinking.type", "\"enabled\""),
    ("enable_thinking", "true"),
    ("chat_template_kwargs.enable_thinking", "true"),
    ("chat_template_kwargs.thinking", "true"),
];

/// Members of a message that are read elsewhere, or are not part of the prompt. A marker beside the role is ignored: Alibaba
/// (context cache, 2026-10) and `OpenRouter` (prompt caching, 2026-09) read it in parts of the content.
const READ: [&str; 9] =
    ["role", "content", "tool_calls", "tool_call_id", "reasoning_details", "id", "status", "type", "cache_control"];

/// A marker of `OpenAI` since GPT-5.6 (`providers.md` 3.1). Ends of messages are looked up whether they have it or not.
const BREAKPOINT: &str = "prompt_cache_breakpoint";

/// Members of a message that say who speaks or how, not what.
const KEYS: [&str; 4] = ["name", "phase", "prefix", "partial"];

/// Members of a message with the reasoning before its text: DeepSeek, Moonshot; vLLM; Ollama.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// Translates a body of either spelling; `model` may come from the address.
pub(super) fn translate(maker: Maker, body: &Value, model: &str) -> Translated {
    let mut keys = Vec::new();
    push(&mut keys, "model", body.get("model").cloned());
    push(&mut keys, TRANSLATED_SETTINGS, Some(settings(body, &told(maker, model))));
    let mut prompt =
        Levels { tools: body.get("tools").map(|tools| openrouter::tools(tools, "tools")), ..Levels::default() };
    let instructions = body.get("instructions").and_then(Value::as_text).filter(|text| !text.is_empty());
    prompt.system.extend(instructions.map(|text| text_part(text, "instructions".to_owned())));
    let mut turns: Vec<Turn> = match (body.get("messages"), body.get("input")) {
        (Some(messages), _) => indexed(messages.elements(), "messages").map(|(found, at)| message(found, at)).collect(),
        (None, Some(Value::Text(text))) => {
            let at = "input".to_owned();
            vec![Turn::new("user", vec![text_part(text, at.clone())], at)]
        }
        (None, Some(input)) => items(input.elements(), &mut prompt),
        (None, None) => Vec::new(),
    };
    for turn in turns.iter_mut().take_while(|turn| turn.role.as_text() == Some("system")) {
        prompt.system.append(&mut turn.content);
    }
    let spoken = body.get("messages").or_else(|| body.get("input")).map_or(&[][..], Value::elements);
    note_starts(&mut turns, spoken.iter().map(speaker));
    prompt.messages = Some(turns);
    prompt.body(keys)
}

/// Who speaks in a message. Results and items of other kinds are never joined with a message.
fn speaker(message: &Value) -> Option<&str> {
    let is_message = matches!(message.text_of("type"), None | Some("message"));
    message.text_of("role").filter(|role| is_message && *role != "tool")
}

/// A message, with its other content first: `reasoning_content`, which DeepSeek and Moonshot get back, a `tool_plan`,
/// `images`.
fn message(message: &Value, at: String) -> Turn {
    let mut turn = openrouter::turn(message, at);
    calls(message, &mut turn);
    details(message, &mut turn);
    beside(message, turn)
}

/// Adds the members of a message that are not read elsewhere.
fn beside(message: &Value, mut turn: Turn) -> Turn {
    let is_said = |value: &Value| match value {
        Value::Null => false,
        Value::Text(text) => !text.is_empty(),
        Value::List(elements) => !elements.is_empty(),
        _ => true,
    };
    let members = message.members().iter().filter(|(key, value)| !READ.contains(&key.as_str()) && is_said(value));
    let (keys, content): (Vec<_>, Vec<_>) = members.partition(|(key, _)| KEYS.contains(&key.as_str()));
    let part = |(key, value): &(String, Value)| {
        let kind = if REASONING.contains(&key.as_str()) { "reasoning" } else { key };
        Part {
            value: Value::object([("type", Value::text(kind)), (key.as_str(), value.clone())]),
            at: format!("{}.{key}", turn.at),
        }
    };
    let content: Vec<Part> = content.into_iter().map(part).collect();
    turn.content.splice(0..0, content);
    turn.keys = keys.into_iter().cloned().collect();
    turn
}

/// Arguments of calls remain text: the cache sees its bytes. Other members of a call (`extra_content`, in which Gemini
/// sends its thought signature) belong to it.
fn calls(message: &Value, turn: &mut Turn) {
    let calls = message.at("tool_calls").elements().iter().rev();
    for (part, call) in turn.content.iter_mut().rev().zip(calls) {
        let function = call.get("function");
        let arguments = function.and_then(|function| function.get("arguments")).cloned().unwrap_or(Value::Null);
        put(&mut part.value, "input", Value::object([("arguments", arguments)]));
        with_others(&mut part.value, call, &["id", "type", "index", "function"]);
    }
}

/// The details of an image or file besides the data, which are part of the prompt (`OpenAI` prompt-caching guide,
/// 2026-09: images with their `detail`).
fn details(message: &Value, turn: &mut Turn) {
    let Some(Value::List(parts)) = message.get("content") else { return };
    let is_shown =
        |part: &&mut Part| !matches!(part.value.text_of("type"), Some("tool_use" | "thinking" | "redacted_thinking"));
    let blocks = turn.content.iter_mut().filter(is_shown);
    for (block, part) in blocks.zip(parts) {
        let Some(detail) = part.get("image_url").and_then(|image| image.get("detail")) else { continue };
        put(&mut block.value, "detail", detail.clone());
    }
}

/// A setting that is part of a prompt's identity: its path, and the values that are as good as none.
type Setting = (&'static str, &'static [&'static str]);

fn told(maker: Maker, model: &str) -> Vec<Setting> {
    let model = model.to_ascii_lowercase();
    let all = |settings: &'static [(&'static str, &'static str)]| {
        settings.iter().map(|(path, default)| (*path, std::slice::from_ref(default)))
    };
    match HEADS.iter().find(|head| model.contains(head.model)) {
        _ if maker == Maker::OpenAi => all(&SETTINGS).collect(),
        None => all(&SETTINGS_OF_OTHERS).collect(),
        Some(head) => {
            let thinking: &[_] = if head.only_if_thinking { &THINKING } else { &[] };
            let efforts = EFFORTS.iter().map(|path| (*path, head.efforts));
            all(&SETTINGS_OF_OTHERS[..1]).chain(efforts).chain(all(thinking)).collect()
        }
    }
}

fn settings(body: &Value, told: &[Setting]) -> Value {
    let mut found = Vec::new();
    for (path, unsaid) in told {
        let value = path.split('.').try_fold(body, |value, key| value.get(key));
        let is_said = |value: &&Value| {
            let json = value.to_json();
            **value != Value::Null && !unsaid.iter().any(|unsaid| json == unsaid.as_bytes())
        };
        push(&mut found, path, value.filter(is_said).cloned());
    }
    Value::Object(found)
}

fn text_part(text: &str, at: String) -> Part {
    Part { value: text_block(Value::text(text)), at }
}

/// The items of `input`. Tools at its beginning are the prompt's tools: for some models Codex CLI sends an item
/// `additional_tools` of the developer and no `tools` (`clients.md` 6, version 0.169.0).
fn items(input: &[Value], prompt: &mut Levels) -> Vec<Turn> {
    let mut leads = true;
    let turn = |(found, at): (&Value, String)| {
        leads &= matches!(found.text_of("role"), Some("developer" | "system"));
        let mut turn = item(found, at);
        if leads && found.text_of("type") == Some("additional_tools") {
            let tools = found.get("tools").map(|tools| openrouter::tools(tools, &format!("{}.tools", turn.at)));
            prompt.tools.get_or_insert_default().extend(tools.into_iter().flatten());
            turn.content.retain_mut(|part| is_more_than_tools(&mut part.value));
        }
        turn
    };
    indexed(input, "input").map(turn).collect()
}

/// Removes the tools from an item; returns whether it has other content.
fn is_more_than_tools(item: &mut Value) -> bool {
    let Value::Object(members) = item else { return true };
    members.retain(|(key, _)| key != "tools");
    members.iter().any(|(key, _)| !matches!(key.as_str(), "type" | "role"))
}

/// An item of `input`: a message, a call, its result, or anything else, which is treated as output of the model.
fn item(item: &Value, at: String) -> Turn {
    let (role, value) = match (item.text_of("type"), item.text_of("role")) {
        (None | Some("message"), Some(role)) => {
            let role = if role == "developer" { "system" } else { role };
            let content = content(item.get("content"), &at);
            return beside(item, Turn::new(role, content, at));
        }
        (Some("function_call"), _) => ("assistant", call(item)),
        (Some("function_call_output"), _) => ("user", output(item)),
        (Some("item_reference"), _) => ("assistant", item.clone()),
        (kind, _) if kind.is_some_and(|kind| kind.ends_with("_output")) => ("user", bare(item)),
        (_, Some("developer" | "system")) => ("system", bare(item)),
        _ => ("assistant", bare(item)),
    };
    Turn::new(role, vec![Part { value, at: at.clone() }], at)
}

fn content(content: Option<&Value>, at: &str) -> Vec<Part> {
    let at = format!("{at}.content");
    match content {
        Some(Value::Text(text)) if !text.is_empty() => vec![text_part(text, format!("{at}[0]"))],
        Some(Value::List(parts)) => indexed(parts, &at).map(|(found, at)| Part { value: part(found), at }).collect(),
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Value {
    match (part.text_of("type"), part.get("text")) {
        (Some("input_text" | "output_text" | "text"), Some(text)) => {
            let mut block = text_block(text.clone());
            with_others(&mut block, part, &["type", "text", BREAKPOINT]);
            block
        }
        (Some("input_image"), _) => {
            let mut block = Value::object([("type", Value::text("image"))]);
            with_others(&mut block, part, &["type", BREAKPOINT]);
            block
        }
        _ => part.clone(),
    }
}

/// Adds the members of `found` that are not in `known` to a block; empty values are left out.
fn with_others(block: &mut Value, found: &Value, known: &[&str]) {
    let is_empty = |value: &Value| *value == Value::Null || matches!(value, Value::List(list) if list.is_empty());
    for (key, value) in found.members().iter().filter(|(key, value)| !known.contains(&key.as_str()) && !is_empty(value))
    {
        put(block, key, value.clone());
    }
}

/// A call with its other members (`namespace`).
fn call(item: &Value) -> Value {
    let mut call = Value::object([
        ("type", Value::text("tool_use")),
        ("id", item.at("call_id").clone()),
        ("name", item.at("name").clone()),
        ("input", Value::object([("arguments", item.at("arguments").clone())])),
    ]);
    with_others(&mut call, item, &["type", "id", "call_id", "name", "arguments", "status"]);
    call
}

fn output(item: &Value) -> Value {
    let content = match item.get("output") {
        Some(Value::List(parts)) => Value::List(parts.iter().map(part).collect()),
        other => other.cloned().unwrap_or(Value::Null),
    };
    let id = item.at("call_id").clone();
    let mut result = Value::object([("type", Value::text("tool_result")), ("tool_use_id", id), ("content", content)]);
    with_others(&mut result, item, &["type", "id", "call_id", "output", "status"]);
    result
}

/// An item without the members that are not part of its prompt.
fn bare(item: &Value) -> Value {
    let members = item.members().iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "status"));
    Value::Object(members.cloned().collect())
}
