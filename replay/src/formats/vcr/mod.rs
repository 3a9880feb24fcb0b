//! Cassettes of vcrpy: HTTP exchanges of a test run, as YAML or JSON.
//!
//! `interactions[]` with `request{method, uri, headers, body | parsed_body}` and
//! `response{status, headers, body{string} | parsed_body}`. Bodies are JSON text, parsed YAML, packed or plain bytes, or a
//! stream of events. An exchange's index is the number of its interaction, so that it can be found in the file.

mod endpoint;
mod message;

use std::borrow::Cow;

use forkcast_sim::time::{Duration, Instant};

use self::endpoint::Endpoint;
use super::text::Text;
use super::value::Value;
use super::yaml::{Item, items_under};
use super::{Reading, body, dialect, json, when};
use crate::error::Fault;
use crate::exchange::{Dialect, Exchange, Origin, Provider};
use crate::response;

/// The `date` header counts whole seconds.
const DATE_STEP: Duration = Duration::from_secs(1);

/// Reads a cassette.
pub(super) fn read(file: &str, text: &Text<'_>) -> Reading {
    let items = if text.bytes.trim_ascii_start().starts_with(b"{") {
        json_items(text)
    } else {
        items_under("interactions", text)
    };
    let mut cassette = Cassette { file, reading: Reading::default(), last_end: None };
    for (index, item) in items.into_iter().enumerate() {
        match item.value {
            Ok(interaction) => cassette.interaction(index, item.line, &interaction),
            Err(fault) => cassette.reading.damage(fault),
        }
    }
    cassette.reading
}

fn json_items(text: &Text<'_>) -> Vec<Item> {
    let (ranges, fault) = text.elements_under("interactions");
    let mut items: Vec<Item> = ranges
        .into_iter()
        .map(|range| {
            let (line, start) = (text.line_of(range.start), range.start);
            let value = Value::from_json(&text.bytes[range]).map_err(|error| text.json_fault(start, &error));
            Item { line, value }
        })
        .collect();
    if let Some(fault) = fault.filter(|_| items.iter().all(|item| item.value.is_ok())) {
        items.push(Item { line: fault.line, value: Err(fault) });
    }
    items
}

struct Cassette<'a> {
    file: &'a str,
    reading: Reading,
    last_end: Option<Instant>,
}

impl Cassette<'_> {
    fn interaction(&mut self, index: usize, line: usize, interaction: &Value) {
        match self.exchange(index, line, interaction) {
            Ok(Some(exchange)) => self.reading.exchanges.push(exchange),
            Ok(None) => {}
            Err(what) => self.reading.damage(Fault::in_line(line, format!("interaction {index}: {what}"))),
        }
    }

    fn exchange(&mut self, index: usize, line: usize, interaction: &Value) -> Result<Option<Exchange>, String> {
        let request = interaction.get("request").ok_or("found no `request`")?;
        let uri = request.text_of("uri").ok_or("found no `request.uri`")?;
        let method = request.text_of("method").unwrap_or("POST");
        let Endpoint::Model { provider, dialect, model } = endpoint::of(method, uri) else {
            let (host, path) = endpoint::split(uri);
            let reason = format!("interaction {index}, line {line}: {method} {host}{path} is no model request");
            self.reading.skipped.push(reason);
            return Ok(None);
        };
        let sent = message::body(request)?;
        let request = Sent::new(provider, dialect, model, &sent)?;
        let origin = Origin { file: self.file.to_owned(), index, line };
        let mut exchange = Exchange::request_only(origin, request.model, request.body.into_owned());
        exchange.provider = request.provider;
        exchange.dialect = request.dialect;
        if let Some(response) = interaction.get("response") {
            self.answer(&mut exchange, response);
        }
        Ok(Some(exchange))
    }

    fn answer(&mut self, exchange: &mut Exchange, response: &Value) {
        exchange.status = message::status(response);
        self.instants(exchange, response);
        if exchange.failed() || exchange.provider != Provider::Anthropic {
            return;
        }
        let answer = match message::body(response) {
            Ok(body) => response::read(exchange.dialect, &body),
            Err(why) => response::Answer { faults: vec![why], ..response::Answer::default() },
        };
        exchange.usage = answer.usage;
        self.reading.add(&exchange.origin, exchange.origin.line, answer);
    }

    /// The answer's `date` header is when it ended, less the provider's own latency is when the request was sent.
    /// An overlap with the interaction before that is no longer than the header's step is taken for rounding.
    fn instants(&mut self, exchange: &mut Exchange, response: &Value) {
        let Some(end) = message::header(response, "date").and_then(|date| when::http_date(&date)) else { return };
        let sent = message::latency(response).map_or(end, |latency| end - latency);
        let rounded = self.last_end.filter(|last| sent < *last && *last <= end && last.since(sent) <= DATE_STEP);
        exchange.sent_at = Some(rounded.unwrap_or(sent));
        exchange.ended_at = Some(end);
        self.last_end = Some(end);
    }
}

/// A request as it is handed on.
struct Sent<'a> {
    provider: Provider,
    dialect: Dialect,
    model: String,
    body: Cow<'a, [u8]>,
}

impl<'a> Sent<'a> {
    fn new(provider: Provider, dialect: Dialect, address: Option<String>, body: &'a [u8]) -> Result<Self, String> {
        let named = body::check(body).map_err(|broken| format!("request body, byte {}: {}", broken.at, broken.what))?;
        let model = address.unwrap_or(named);
        let is_openrouter = provider == Provider::Other("openrouter".to_owned());
        let (provider, dialect) =
            match is_openrouter && model.contains("claude") && json::member(body, "messages").is_some() {
                true => (Provider::Anthropic, Dialect::OpenRouter),
                false => (provider, dialect),
            };
        let body = match dialect {
            Dialect::Messages | Dialect::BedrockInvoke => Cow::Borrowed(body),
            Dialect::BedrockConverse => {
                translated(body, |parsed| dialect::bedrock_converse::translate(parsed, &model))?
            }
            Dialect::OpenRouter => translated(body, dialect::openrouter::translate)?,
        };
        Ok(Self { provider, dialect, model, body })
    }
}

fn translated(body: &[u8], translate: impl Fn(&Value) -> Value) -> Result<Cow<'static, [u8]>, String> {
    let parsed = Value::from_json(body).map_err(|error| format!("request body: {error}"))?;
    Ok(Cow::Owned(translate(&parsed).to_json()))
}
