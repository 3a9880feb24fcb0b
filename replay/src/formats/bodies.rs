//! Request bodies alone: one per file or several one behind the other, each a body or `{"request": {…}, "response": {…}}`.
//!
//! Files of a folder are taken in the order of their names. They carry no instants. A body with `input` in the place of
//! `messages`, and a model that tells whose it is, is one of the Responses API.

use std::ops::Range;

use super::text::Text;
use super::{Reading, body, json};
use crate::error::Fault;
use crate::exchange::{Dialect, Exchange, Origin, Provider};
use crate::response;

/// Reads a file that holds bodies.
pub(super) fn read(file: &str, text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut at = json::skip_space(text.bytes, 0);
    let mut index = 0;
    while at < text.bytes.len() {
        let end = match json::walk_value(text.bytes, at) {
            Ok(walked) => {
                if let Err(fault) = one(file, text, index, at..walked.end, &mut reading) {
                    reading.damage(fault);
                }
                walked.end
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

/// Where reading can go on after damage: the next line that begins with `{`.
fn next_object(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, b"\n{").map_or(bytes.len(), |i| from + i + 1)
}

fn one(file: &str, text: &Text<'_>, index: usize, range: Range<usize>, reading: &mut Reading) -> Result<(), Fault> {
    let value = text.bytes.get(range).unwrap_or_default();
    let (raw, answer) = match json::member(value, "request") {
        Some(request) => (request, json::member(value, "response")),
        None => (value, None),
    };
    let start = text.offset_of(raw);
    let model = body::check(raw).map_err(|broken| text.fault(start + broken.at, broken.what))?;
    let is_response = json::member(raw, "input").is_some() && body::provider_by_model(&model).is_some();
    if json::member(raw, "messages").is_none() && !is_response {
        return Err(text.fault(start, "found an object without `messages`, expected a request body"));
    }
    let origin = Origin { file: file.to_owned(), index, line: text.line_of(start) };
    let mut exchange = exchange(origin, model, raw);
    if let Some(answer) = answer {
        attach(&mut exchange, answer, text.line_of(text.offset_of(answer)), reading);
    }
    reading.exchanges.push(exchange);
    Ok(())
}

/// An exchange of which only the body is known; who was asked shows in the name of the model.
pub(super) fn exchange(origin: Origin, model: String, raw: &[u8]) -> Exchange {
    let provider = body::provider_by_model(&model);
    let mut exchange = Exchange::request_only(origin, model, raw.to_vec());
    if let Some(name) = provider {
        exchange.provider = Provider::Other(name.to_owned());
        exchange.dialect = match json::member(raw, "messages") {
            Some(_) => Dialect::ChatCompletions,
            None => Dialect::Responses,
        };
    }
    exchange
}

/// Reads the usage of an answer: an object, or the text of a stream as it is or as a JSON string.
pub(super) fn attach(exchange: &mut Exchange, answer: &[u8], line: usize, reading: &mut Reading) {
    if exchange.failed() || answer == b"null" {
        return;
    }
    let answer = match json::text(answer) {
        Some(events) => response::attach_recognised(exchange, events.as_bytes()),
        None => response::attach_recognised(exchange, answer),
    };
    reading.add(&exchange.origin, line, answer);
}
