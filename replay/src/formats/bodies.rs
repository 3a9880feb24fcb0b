//! Request bodies alone: one per file or several in sequence, each a body or `{"request": {…}, "response": {…}}`.
//!
//! Files of a folder are taken in the order of their names. They have no instants. The model's name decides the provider
//! of a body, its keys the spelling: `contents` is Gemini's, `input` instead of `messages` the Responses API's,
//! `prompt` Ollama's or an old completion's; other keys show whether a body is in the spelling of the Messages API, of
//! Converse or of chat completions.

use std::sync::Arc;

use super::dialect::{self, Translated, bedrock_converse};
use super::json::{Broken, DEPTH_LIMIT, ScanError, Scanner};
use super::reader::{File, Object, Probe, Reader};
use super::text::Text;
use super::{Reading, body, json};
use crate::error::Fault;
use crate::exchange::{ANTHROPIC, Dialect, Exchange, Origin, RecordedUsage};
use crate::response;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "bodies",
    what: "one request body per file, in order of file names; or `{request, response}` in one file",
    detected_by: "top-level keys `model` and `messages` (or `input`, `prompt`), or `contents`, or `request` and `response`",
    probe: |object| Probe::No.or_perhaps(object.is_document && is_body(object)),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = file.reading();
    let mut at = json::skip_space(text.bytes, 0);
    let mut index = 0;
    while at < text.bytes.len() {
        let end = match Found::at(text.bytes, at) {
            Ok(found) => {
                if let Err(fault) = one(file.name, text, index, &found, &mut reading) {
                    reading.damage(fault);
                }
                at + found.value.len()
            }
            Err(broken) => {
                reading.damage(text.fault(broken.at, broken.what));
                next_object(text.bytes, at)
            }
        };
        at = json::skip_space(text.bytes, end);
        index += 1;
    }
    reading
}

/// Keys of bodies whose model is in the address: those for Bedrock and Vertex, and those of Converse.
const MODEL_ELSEWHERE: [&str; 4] = ["anthropic_version", "toolConfig", "inferenceConfig", "modelId"];

/// Pairs of keys that identify a body, or a body with its answer.
const PAIRS: [[&str; 2]; 3] =
    [["request", "response"], ["message", "chat_history"], ["inputText", "textGenerationConfig"]];

fn is_body(object: &Object<'_>) -> bool {
    (object.has("model") && object.has_any(&["messages", "input", "prompt"]))
        || (object.has("messages") && object.has_any(&MODEL_ELSEWHERE))
        || PAIRS.iter().any(|pair| object.has_all(pair))
        || has_contents(object)
        || object.inner("request").is_some_and(|request| has_contents(&request))
}

/// Whether the list under `contents` is a conversation with Gemini.
fn has_contents(object: &Object<'_>) -> bool {
    object.first_under("contents").is_some_and(|content| content.has("parts"))
}

/// Where reading can continue after damage: the next line that begins with `{`.
fn next_object(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    memchr::memmem::find(rest, b"\n{").map_or(bytes.len(), |i| from + i + 1)
}

/// A value of the file, scanned once.
struct Found<'a> {
    value: &'a [u8],
    keys: Keys<'a>,
    /// It is an object; `None` if the scan of its members failed, or for another value.
    members: Option<Members<'a>>,
}

/// What a scan of an object shows besides its keys.
struct Members<'a> {
    model: Option<&'a [u8]>,
    /// How deep the first member is nested that is nested too deep; else the last member.
    depth: usize,
}

impl<'a> Found<'a> {
    fn at(bytes: &'a [u8], at: usize) -> Result<Self, Broken> {
        let mut scanner = Scanner::at(bytes, at);
        if scanner.peek() == Some(b'{')
            && let Ok((keys, members)) = Keys::scan(&mut scanner)
        {
            return Ok(Self { value: scanner.since(at), keys, members: Some(members) });
        }
        let end = json::walk_value(bytes, at)?;
        let value = &bytes[at..end];
        Ok(Self { value, keys: Keys::of(value), members: None })
    }

    /// The model of the value, which is a request.
    fn model(&self) -> Result<String, Broken> {
        let Some(members) = &self.members else { return body::check(self.value) };
        body::check_scanned(self.value)?;
        body::check_depth(0, members.depth)?;
        Ok(members.model.and_then(json::text).unwrap_or_default().into_owned())
    }
}

fn one(file: &str, text: &Text<'_>, index: usize, found: &Found<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let value = found.value;
    let own;
    let (raw, keys, answer) = match found.keys.request {
        Some(request) => {
            own = Keys::of(request);
            (request, &own, found.keys.response)
        }
        None => (value, &found.keys, None),
    };
    let start = text.offset_of(raw);
    let model = if found.keys.request.is_some() { body::check(raw) } else { found.model() };
    let model = model.map_err(|broken| text.fault(start + broken.at, broken.what))?;
    let is_response = keys.input.is_some() && body::provider_by_model(&model).is_some();
    if keys.messages.is_none() && keys.prompt.is_none() && !is_response {
        return Err(text.fault(start, "found an object without `messages`, expected a request body"));
    }
    let elsewhere =
        || ["modelId", "model"].into_iter().zip([raw, value]).find_map(|(key, body)| json::member_text(body, key));
    let model = if model.is_empty() { elsewhere().unwrap_or_default().into_owned() } else { model };
    let origin = Origin { file: file.to_owned(), index, line: text.line_of(start) };
    let mut exchange = keyed(origin, model, raw, keys).map_err(|why| text.fault(start, why))?;
    if let Some(answer) = answer {
        exchange.asks_for_answer = None;
        attach(&mut exchange, answer, text.line_of(text.offset_of(answer)), reading);
    }
    reading.exchanges.push(exchange);
    Ok(())
}

/// An exchange with only a body, whose provider follows from the model's name. It is an error if the body is not JSON.
pub(super) fn exchange(origin: Origin, model: String, raw: &[u8]) -> Result<Exchange, String> {
    keyed(origin, model, raw, &Keys::of(raw))
}

fn keyed(origin: Origin, model: String, raw: &[u8], body: &Keys<'_>) -> Result<Exchange, String> {
    let (provider, dialect) = body.spelled_for(&model);
    let translated = if provider.is_none() { dialect::translate(dialect, raw, &model)? } else { None };
    let mut exchange = match translated {
        Some(Translated { body, addresses }) => {
            Exchange { addresses: Some(Arc::new(addresses)), ..Exchange::request_only(origin, model, body.to_json()) }
        }
        None => Exchange::request_only(origin, model, copied(raw)),
    };
    exchange.dialect = dialect;
    exchange.asks_for_answer = (dialect == Dialect::Messages).then_some(body.has_max_tokens);
    exchange.provider = provider.unwrap_or(ANTHROPIC).to_owned();
    Ok(exchange)
}

/// A copy of a body. Bodies that grow a little get memory of one size, which the next one can have again: else the system gives
/// and takes the pages of each.
fn copied(raw: &[u8]) -> Vec<u8> {
    let step = (raw.len() / 8).next_power_of_two();
    let mut copy = Vec::with_capacity(raw.len().next_multiple_of(step));
    copy.extend_from_slice(raw);
    copy
}

/// Values of a body, or of an object that may contain one, that determine its spelling.
#[derive(Default)]
struct Keys<'a> {
    request: Option<&'a [u8]>,
    response: Option<&'a [u8]>,
    input: Option<&'a [u8]>,
    messages: Option<&'a [u8]>,
    /// The spelling of a prompt without messages.
    prompt: Option<Dialect>,
    system: Option<&'a [u8]>,
    tools: Option<&'a [u8]>,
    has_max_tokens: bool,
    /// It has a key that only Converse has.
    of_converse: bool,
}

impl<'a> Keys<'a> {
    fn of(raw: &'a [u8]) -> Self {
        let mut keys = Self::default();
        for (key, value) in json::members(raw).map_while(Result::ok) {
            keys.note(&json::text(key).unwrap_or_default(), value);
        }
        keys
    }

    /// The same for the object at the scanner, up to its end.
    fn scan(scanner: &mut Scanner<'a>) -> Result<(Self, Members<'a>), ScanError> {
        let (mut keys, mut members) = (Self::default(), Members { model: None, depth: 0 });
        scanner.enter(b'{')?;
        while let Some(key) = scanner.key()? {
            let value = scanner.value()?;
            if members.depth < DEPTH_LIMIT {
                members.depth = scanner.depth();
            }
            let key = json::unescaped(key);
            if key == "model" {
                members.model = Some(value);
            }
            keys.note(&key, value);
        }
        Ok((keys, members))
    }

    fn note(&mut self, key: &str, value: &'a [u8]) {
        match key {
            "request" => self.request = Some(value),
            "response" => self.response = Some(value),
            "input" => self.input = Some(value),
            "messages" => self.messages = Some(value),
            "system" => self.system = Some(value),
            "tools" => self.tools = Some(value),
            "max_tokens" => self.has_max_tokens = true,
            "contents" => self.prompt = Some(Dialect::GenerateContent),
            "prompt" | "inputText" => self.prompt = self.prompt.or(Some(Dialect::Ollama)),
            "chat_history" => self.prompt = Some(Dialect::Cohere),
            key if bedrock_converse::KEYS.contains(&key) => self.of_converse = true,
            _ => {}
        }
    }

    /// The provider of a body (`None`: Anthropic), and its spelling.
    fn spelled_for(&self, model: &str) -> (Option<&'static str>, Dialect) {
        let provider = body::provider_by_model(model);
        match (provider, self.messages, self.prompt) {
            (_, None, Some(Dialect::GenerateContent)) => (provider.or(Some("gemini")), Dialect::GenerateContent),
            (_, None, Some(Dialect::Cohere)) => (provider.or(Some("cohere")), Dialect::Cohere),
            (_, None, Some(prompt)) => (provider.or(Some("unknown")), prompt),
            (Some(_), None, None) => (provider, Dialect::Responses),
            (Some(_), Some(_), _) if self.of_converse => (provider, Dialect::BedrockConverse),
            (Some(_), Some(_), _) if self.is_messages() => (provider, Dialect::Messages),
            (Some(_), Some(_), _) => (provider, Dialect::ChatCompletions),
            (None, ..) => (None, self.dialect()),
        }
    }

    /// Whether a body for a model other than Claude is in the spelling of the Messages API, which many makers offer.
    fn is_messages(&self) -> bool {
        let is_declared = |tool| json::member(tool, "input_schema").is_some();
        self.system.is_some() || self.tools.and_then(first).is_some_and(is_declared)
    }

    /// The spelling of a body for a Claude model. Blocks of Converse have their kind as their only key and no `type`;
    /// chat completions have no `system`, and use functions for tools.
    fn dialect(&self) -> Dialect {
        let message = self.messages.and_then(first);
        let content = message.and_then(|message| first(json::member(message, "content")?));
        let is_untyped = |block: &[u8]| {
            let keys = json::keys(block, 0).keys;
            keys.len() == 1 && keys[0] != "type"
        };
        if self.of_converse || [self.system.and_then(first), content].into_iter().flatten().any(is_untyped) {
            return Dialect::BedrockConverse;
        }
        let role = message.and_then(|message| json::member_text(message, "role"));
        let is_function = |tool| json::member(tool, "function").is_some();
        let is_chat = matches!(role.as_deref(), Some("system" | "developer"))
            || self.tools.and_then(first).is_some_and(is_function);
        if self.system.is_none() && is_chat { Dialect::OpenRouter } else { Dialect::Messages }
    }
}

/// The first element of a list.
fn first(list: &[u8]) -> Option<&[u8]> {
    json::elements(list).next()
}

/// Reads usage outside of its answer.
pub(super) fn usage(raw: &[u8]) -> Result<RecordedUsage, String> {
    response::usage_of_messages(raw, None)
}

/// Reads the usage of an answer: an object, or the text of a stream as it is or as a JSON string.
pub(super) fn attach(exchange: &mut Exchange, answer: &[u8], line: usize, reading: &mut Reading) {
    if answer == b"null" {
        return;
    }
    let events = json::text(answer);
    let answer = events.as_ref().map_or(answer, |events| events.as_bytes());
    if reading.keeps_answers {
        exchange.keep(answer);
    }
    if exchange.failed() {
        exchange.thinking_refused = response::thinking_refused(exchange.status, answer);
        return;
    }
    let answer = response::attach_recognised(exchange, answer);
    reading.add(&exchange.origin, line, answer);
}
