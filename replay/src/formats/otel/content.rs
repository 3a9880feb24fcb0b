//! The prompt of a span, assembled as a chat completion, which is then translated to the Messages API if needed.

use std::collections::BTreeMap;

use super::attributes::Attributes;
use crate::formats::logged::Content;
use crate::formats::value::Value;

/// The prompt, by whichever convention the span uses.
pub(super) fn of(attributes: &Attributes, model: &str) -> Content {
    if let Some(body) = recorded_body(attributes) {
        return Content::of(body);
    }
    let found = [conventions, flattened, open_inference, content_event].iter().find_map(|read| read(attributes));
    match found {
        Some(prompt) if !prompt.messages.is_empty() => Content::Chat(prompt.body(model)),
        _ => Content::Absent,
    }
}

/// A prompt in the spelling of chat completions.
#[derive(Default)]
struct ChatPrompt {
    tools: Vec<Value>,
    messages: Vec<Value>,
}

impl ChatPrompt {
    fn body(self, model: &str) -> Value {
        let mut body = vec![("model".to_owned(), Value::text(model))];
        if !self.tools.is_empty() {
            body.push(("tools".to_owned(), Value::List(self.tools)));
        }
        body.push(("messages".to_owned(), Value::List(self.messages)));
        Value::Object(body)
    }
}

/// `input.value` of OpenInference often has the exact arguments of the call.
fn recorded_body(attributes: &Attributes) -> Option<Value> {
    let body = attributes.get(&["input.value"])?.parsed()?;
    (!body.get("messages")?.elements().is_empty()).then_some(body)
}

/// `gen_ai.input.messages` with parts, `gen_ai.system_instructions`, `gen_ai.tool.definitions`.
fn conventions(attributes: &Attributes) -> Option<ChatPrompt> {
    let messages = attributes.get(&["gen_ai.input.messages"])?.parsed()?;
    let mut prompt = ChatPrompt::default();
    if let Some(system) = attributes.get(&["gen_ai.system_instructions"]).and_then(Value::parsed) {
        prompt.messages.push(message("system", parts(&system)));
    }
    for sent in messages.elements() {
        let role = sent.text_of("role").unwrap_or("user");
        let list = sent.at("parts").clone();
        match (list.elements().is_empty(), sent.get("content")) {
            (true, Some(content)) => prompt.messages.push(message(role, content.clone())),
            _ => convention_message(role, list.elements(), &mut prompt.messages),
        }
    }
    if let Some(tools) = attributes.get(&["gen_ai.tool.definitions"]).and_then(Value::parsed) {
        prompt.tools = tools.elements().iter().map(definition).collect();
    }
    Some(prompt)
}

fn message(role: &str, content: Value) -> Value {
    Value::object([("role", Value::text(role)), ("content", content)])
}

/// Tool results are separate messages in a chat.
fn convention_message(role: &str, list: &[Value], out: &mut Vec<Value>) {
    let (mut content, mut calls, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
    for element in list {
        match element.text_of("type") {
            Some("tool_call") => {
                calls.push(call(element.at("id").clone(), element.at("name").clone(), element.at("arguments").clone()));
            }
            Some("tool_call_response") => {
                let result = element.get("response").or_else(|| element.get("result")).cloned().unwrap_or(Value::Null);
                out.push(tool_message(element.at("id").clone(), result));
            }
            Some("reasoning") => {
                thoughts.push(Value::object([
                    ("type", Value::text("reasoning.text")),
                    ("text", element.at("content").clone()),
                ]));
            }
            _ => content.push(part(element)),
        }
    }
    if content.is_empty() && calls.is_empty() && thoughts.is_empty() {
        return;
    }
    let mut members = vec![("role".to_owned(), Value::text(role)), ("content".to_owned(), Value::List(content))];
    for (name, list) in [("reasoning_details", thoughts), ("tool_calls", calls)] {
        if !list.is_empty() {
            members.push((name.to_owned(), Value::List(list)));
        }
    }
    out.push(Value::Object(members));
}

fn tool_message(id: Value, result: Value) -> Value {
    let content = match result {
        Value::Text(_) | Value::List(_) => result,
        other => Value::text(String::from_utf8_lossy(&other.to_json())),
    };
    Value::object([("role", Value::text("tool")), ("tool_call_id", id), ("content", content)])
}

fn call(id: Value, name: Value, arguments: Value) -> Value {
    Value::object([("id", id), ("function", Value::object([("name", name), ("arguments", arguments)]))])
}

fn parts(list: &Value) -> Value {
    match list {
        Value::List(elements) => Value::List(elements.iter().map(part).collect()),
        text => text.clone(),
    }
}

/// A part as content of a chat.
fn part(part: &Value) -> Value {
    let text = |text: Value| Value::object([("type", Value::text("text")), ("text", text)]);
    match part.text_of("type") {
        Some("text") => text(part.get("content").or_else(|| part.get("text")).cloned().unwrap_or(Value::Null)),
        Some("blob") => {
            let kind = part.text_of("mime_type").unwrap_or("application/octet-stream");
            image(Value::Text(format!("data:{kind};base64,{}", part.text_of("content").unwrap_or_default())))
        }
        Some("uri") => image(part.at("uri").clone()),
        None if part.as_text().is_some() => text(part.clone()),
        _ => part.clone(),
    }
}

fn image(url: Value) -> Value {
    Value::object([("type", Value::text("image_url")), ("image_url", Value::object([("url", url)]))])
}

/// A tool; definitions are flat in the conventions and nested in a chat.
fn definition(tool: &Value) -> Value {
    match tool.get("function").is_some() || tool.get("input_schema").is_some() {
        true => tool.clone(),
        false => {
            let members = tool.members().iter().filter(|(name, _)| name != "type").cloned().collect();
            Value::object([("type", Value::text("function")), ("function", Value::Object(members))])
        }
    }
}

fn field(row: &BTreeMap<&str, &Value>, name: &str) -> Value {
    row.get(name).map_or(Value::Null, |value| (*value).clone())
}

/// `gen_ai.prompt.0.role`, `….content`, `….tool_calls.0.name` …; `llm.request.functions.0.name` ….
fn flattened(attributes: &Attributes) -> Option<ChatPrompt> {
    let rows = attributes.rows("gen_ai.prompt");
    let messages = rows.values().map(|row| flat_message(row, "", ["id", "name", "arguments"])).collect();
    let functions = attributes.rows("llm.request.functions");
    let tools = functions.values().map(|row| {
        let texts = ["name", "description"].map(|name| Some((name.to_owned(), (*row.get(name)?).clone())));
        let schemas = ["parameters", "input_schema"].map(|name| Some((name.to_owned(), row.get(name)?.parsed()?)));
        definition(&Value::Object(texts.into_iter().chain(schemas).flatten().collect()))
    });
    (!rows.is_empty()).then(|| ChatPrompt { tools: tools.collect(), messages })
}

/// `llm.input_messages.0.message.role` …, `llm.tools.0.tool.json_schema`.
fn open_inference(attributes: &Attributes) -> Option<ChatPrompt> {
    const CALL: [&str; 3] = ["tool_call.id", "tool_call.function.name", "tool_call.function.arguments"];
    let rows = attributes.rows("llm.input_messages");
    let messages = rows.values().map(|row| flat_message(row, "message.", CALL)).collect();
    let tools = attributes.rows("llm.tools");
    let tools = tools.values().filter_map(|row| row.get("tool.json_schema")?.parsed()).map(|tool| definition(&tool));
    (!rows.is_empty()).then(|| ChatPrompt { tools: tools.collect(), messages })
}

/// A message whose fields are all attributes. `call_fields` names the fields of a tool call.
fn flat_message(row: &BTreeMap<&str, &Value>, prefix: &str, call_fields: [&str; 3]) -> Value {
    let named = |name: &str| field(row, &format!("{prefix}{name}"));
    let role = named("role").as_text().unwrap_or("user").to_owned();
    let content = match named("content") {
        Value::Text(text) => match Value::from_json(text.as_bytes()) {
            // OpenLLMetry writes lists of parts as text.
            Ok(Value::List(list)) => Value::List(list.iter().map(part).collect()),
            _ => Value::Text(text),
        },
        Value::Null => Value::List(contents(row, prefix)),
        other => other,
    };
    let id = named("tool_call_id");
    if role == "tool" || id != Value::Null {
        return tool_message(id, content);
    }
    let mut members = vec![("role".to_owned(), Value::text(role)), ("content".to_owned(), content)];
    let calls = calls(row, prefix, call_fields);
    if !calls.is_empty() {
        members.push(("tool_calls".to_owned(), Value::List(calls)));
    }
    Value::Object(members)
}

/// `contents.0.message_content.text`, ….
fn contents(row: &BTreeMap<&str, &Value>, prefix: &str) -> Vec<Value> {
    let texts = numbered(row, &format!("{prefix}contents.")).into_values().filter_map(|fields| {
        fields
            .get("message_content.text")
            .map(|text| Value::object([("type", Value::text("text")), ("text", (*text).clone())]))
    });
    texts.collect()
}

fn calls(row: &BTreeMap<&str, &Value>, prefix: &str, [id, name, arguments]: [&str; 3]) -> Vec<Value> {
    let rows = numbered(row, &format!("{prefix}tool_calls."));
    rows.into_values().map(|fields| call(field(&fields, id), field(&fields, name), field(&fields, arguments))).collect()
}

fn numbered<'a>(row: &BTreeMap<&'a str, &'a Value>, prefix: &str) -> BTreeMap<u64, BTreeMap<&'a str, &'a Value>> {
    let mut rows: BTreeMap<u64, BTreeMap<&str, &Value>> = BTreeMap::new();
    for (name, value) in row {
        let Some((number, field)) = name.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else { continue };
        if let Ok(number) = number.parse() {
            rows.entry(number).or_default().insert(field, value);
        }
    }
    rows
}

/// The event `gen_ai.content.prompt` with the messages as JSON in `gen_ai.prompt`, or an event for each message.
fn content_event(attributes: &Attributes) -> Option<ChatPrompt> {
    let mut messages = attributes.get(&["gen_ai.prompt"]).and_then(Value::parsed).map(|list| list.elements().to_vec());
    if messages.as_ref().is_none_or(Vec::is_empty) {
        let events = attributes.events.iter().filter_map(|(name, fields)| {
            let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
            let content = fields.get("content").or_else(|| fields.get("gen_ai.event.content"))?;
            match role {
                "tool" => Some(tool_message(fields.get("id").cloned().unwrap_or(Value::Null), content.clone())),
                _ => Some(message(role, content.clone())),
            }
        });
        messages = Some(events.collect());
    }
    messages.map(|messages| ChatPrompt { tools: Vec::new(), messages })
}
