//! Cassettes of vcrpy: HTTP exchanges of a test run, as YAML or JSON.
//!
//! `interactions[]` with `request{method, uri, headers, body | parsed_body}` and
//! `response{status, headers, body{string} | parsed_body}`. Bodies are JSON text, parsed YAML, packed or plain bytes, or a
//! stream of events. An exchange's index is the number of its interaction, so that it can be found in the file.

mod message;

use super::Reading;
use super::text::Text;
use super::value::Value;
use super::yaml::{Item, items_under};
use crate::error::Fault;
use crate::exchange::{Exchange, Origin};
use crate::http::{self, Clock, Request, Response, Sorted};

/// Reads a cassette.
pub(super) fn read(file: &str, text: &Text<'_>) -> Reading {
    let items = if text.bytes.trim_ascii_start().starts_with(b"{") {
        json_items(text)
    } else {
        items_under("interactions", text)
    };
    let mut cassette = Cassette { file, reading: Reading::default(), clock: Clock::default() };
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
    clock: Clock,
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
        let origin = Origin { file: self.file.to_owned(), index, line };
        let sent = Request {
            method: request.text_of("method").unwrap_or("POST"),
            uri: request.text_of("uri").ok_or("found no `request.uri`")?,
            headers: message::headers(request),
            body: Ok(message::body(request)),
        };
        let mut exchange = match http::exchange(origin, &sent)? {
            Sorted::Model(exchange) => *exchange,
            Sorted::Elsewhere(reason) => {
                self.reading.skipped.push(format!("interaction {index}, line {line}: {reason}"));
                return Ok(None);
            }
        };
        if let Some(response) = interaction.get("response") {
            self.answer(&mut exchange, response);
        }
        Ok(Some(exchange))
    }

    fn answer(&mut self, exchange: &mut Exchange, response: &Value) {
        let response = Response {
            status: message::status(response),
            headers: message::headers(response),
            body: Ok(message::body(response)),
        };
        self.clock.stamp(exchange, &response.headers);
        let answer = http::attach(exchange, &response);
        self.reading.add(&exchange.origin, exchange.origin.line, answer);
    }
}
