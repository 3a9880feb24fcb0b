//! Logs of LiteLLM: `StandardLoggingPayload` as its callbacks write it (S3, GCS, Azure, custom ones), rows of its spend
//! table, or calls with `standard_logging_object` in them; line by line, one document, or one list.
//!
//! | field | |
//! |---|---|
//! | `call_type` | `acompletion`, `anthropic_messages`, `aresponses`, …: calls to a model; others are skipped |
//! | `model`, `custom_llm_provider` | the model and the provider |
//! | `startTime`, `completionStartTime`, `endTime` | seconds since 1970, or a date, in UTC if it has no zone; the second is the first token of a stream, else the end |
//! | `proxy_server_request` | the body that the client sent to the proxy (`body` of it, or itself; text of JSON in rows) |
//! | `messages`, `model_parameters` | the request, without other data of the proxy's client |
//! | `response` | the answer, in the provider's spelling or as a chat completion |
//! | `prompt_tokens`, `completion_tokens` | counts; `metadata.usage_object`, `metadata.additional_usage_values` have more |
//! | `cache_hit` | true: answered from LiteLLM's own cache, no request was sent |
//!
//! Bodies are missing if `turn_off_message_logging` redacts them or if rows truncate long strings (`litellm_truncated`,
//! by default from 2,048 characters on): then usage is counted and the prompt is unknown.
//!
//! Sources: BerriAI/litellm `litellm/types/utils.py`, `proxy/spend_tracking/spend_tracking_utils.py`,
//! `docs/my-website/docs/proxy/logging_spec.md`; usage: `litellm/llms/anthropic/chat/transformation.py`, pull requests
//! 9838 and 23342, issues 15056 and 42663 (all accessed in 2026-11).

mod usage;

use forkcast_sim::outside::found;

use super::calls::Calls;
use super::logged::{self, Content};
use super::reader::{File, Probe, Reader};
use super::value::Value;
use super::{Reading, when};
use crate::exchange::Exchange;

/// The replacement of a redacted text.
const REDACTED: &str = "redacted-by-litellm";

/// The replacement of the middle of a long text.
const TRUNCATED: &[u8] = b"litellm_truncated";

/// Calls to a model; asynchronous ones have an `a` before their name.
const MODEL_CALLS: &[&str] = &[
    "completion",
    "text_completion",
    "anthropic_messages",
    "responses",
    "generate_content",
    "generate_content_stream",
    "pass_through_endpoint",
    "llm_passthrough_route",
    "llm_passthrough_route_stream",
];

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "litellm",
    what: "calls as LiteLLM's callbacks log them (`StandardLoggingPayload`), and rows of its table of spends",
    detected_by: "objects with `call_type` and `startTime`, or with `standard_logging_object`",
    probe: |object| Probe::sure(object.has("standard_logging_object") || object.has_all(&["call_type", "startTime"])),
    read,
    reads_lists: true,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "record");
    calls.each_record(&file.text(), |calls, index, line, record| {
        let record = record.get("standard_logging_object").unwrap_or(record);
        if let Some(reason) = passed_over(record) {
            return calls.pass_over(index, line, &reason);
        }
        let exchange = exchange(calls, index, line, record).map(Some);
        calls.take(index, line, exchange);
    });
    calls.finish()
}

fn exchange(calls: &mut Calls<'_>, index: usize, line: usize, record: &Value) -> Result<Exchange, String> {
    let model = record.text_of("model").ok_or("found no `model`")?;
    let content = content(record);
    if matches!(content, Content::Absent) {
        calls.without_prompt.push(index);
    }
    let mut exchange =
        logged::exchange(calls.origin(index, line), model, record.text_of("custom_llm_provider"), content)?;
    let instant = |name: &str| record.get(name).and_then(instant);
    exchange.sent_at = instant("startTime");
    exchange.ended_at = instant("endTime");
    exchange.first_byte_at = instant("completionStartTime").filter(|first| Some(*first) < exchange.ended_at);
    exchange.status = status(record);
    if !exchange.failed() {
        let answer = usage::attach(&mut exchange, record, calls.reading.keeps_answers);
        calls.reading.add(&exchange.origin, line, answer);
    }
    Ok(exchange)
}

/// Why a record is not a request to a model.
fn passed_over(record: &Value) -> Option<String> {
    let call = record.text_of("call_type").unwrap_or("completion");
    let known = |call: &str| MODEL_CALLS.contains(&call);
    if !known(call) && !call.strip_prefix('a').is_some_and(known) {
        return Some(format!("call {} is no model request", found(call)));
    }
    let is_true = |value: &Value| *value == Value::Bool(true) || value.as_text() == Some("True");
    record.get("cache_hit").is_some_and(is_true).then(|| "answered out of LiteLLM's own cache".to_owned())
}

/// The HTTP status of a failure; a success has none in the log.
fn status(record: &Value) -> Option<u16> {
    let error = record.get("error_information")?;
    match error.get("error_code")? {
        Value::Number(code) | Value::Text(code) => code.parse().ok().filter(|code| *code >= 400),
        _ => None,
    }
}

/// Seconds, or a date; without a zone it is UTC.
fn instant(value: &Value) -> Option<forkcast_sim::time::Instant> {
    match value {
        Value::Number(seconds) => when::seconds(seconds),
        Value::Text(date) => when::iso(date).or_else(|| when::iso(&format!("{}Z", date.trim().replace(' ', "T")))),
        _ => None,
    }
}

/// The client's own body if the log has it, else the arguments of the call.
fn content(record: &Value) -> Content {
    let holders = [Some(record), record.get("litellm_params"), record.get("metadata")];
    let sent = holders.into_iter().flatten().find_map(|holder| sent_body(holder.get("proxy_server_request")?));
    let body = sent.or_else(|| called_with(record));
    match body {
        Some(body) if is_whole(&body) => Content::of(body),
        _ => Content::Absent,
    }
}

fn sent_body(request: &Value) -> Option<Value> {
    let request = request.parsed()?;
    let body = request.get("body").cloned().unwrap_or(request);
    body.get("messages").is_some().then_some(body)
}

/// `messages` and the parts of `model_parameters` that belong to a prompt.
fn called_with(record: &Value) -> Option<Value> {
    let messages = record.get("messages")?.parsed()?;
    let messages = match messages.get("messages") {
        Some(inner) => inner.clone(),
        None => messages,
    };
    if messages.elements().is_empty() {
        return None;
    }
    let mut body = vec![("model".to_owned(), record.get("model")?.clone())];
    let parameters = record.at("model_parameters").members();
    body.extend(parameters.iter().filter(|(name, _)| name != "model" && name != "messages").cloned());
    body.push(("messages".to_owned(), messages));
    Some(Value::Object(body))
}

fn is_whole(body: &Value) -> bool {
    let json = body.to_json();
    let has = |word: &[u8]| memchr::memmem::find(&json, word).is_some();
    !has(TRUNCATED) && !has(REDACTED.as_bytes())
}
