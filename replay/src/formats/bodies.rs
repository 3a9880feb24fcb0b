//! Request bodies alone: one per file or several in sequence, each a body or `{"request": {…}, "response": {…}}`.
//!
//! Files of a folder are taken in the order of their names. They have no instants. `spelled` decides whose bodies they are.

use std::sync::Arc;

use super::dialect::{self, Translated};
use super::json::{Broken, Scanner};
use super::reader::{File, Object, Probe, Reader};
use super::spelled::{Keys, Members};
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
    if keys.messages.is_none() && keys.prompt.is_none() && !keys.is_response(&model) {
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
    let (provider, dialect) = body.spelled_for(&model, raw);
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
