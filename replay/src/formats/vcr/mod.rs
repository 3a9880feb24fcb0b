//! Cassettes: HTTP exchanges of a test run, as YAML or JSON, by vcrpy and by ruby VCR.
//!
//! | | vcrpy | ruby VCR |
//! |---|---|---|
//! | list | `interactions[]` | `http_interactions[]` |
//! | bodies | `body`, `body.string` or a plug-in's `parsed_body`: text, parsed YAML, `!!binary` | `body.string` or `body.base64_string`, beside `encoding`; `!binary` |
//! | end of an answer | header `date` | `recorded_at` (an HTTP date) |
//!
//! Headers are a value or a list of values. An exchange's index is the number of its interaction, so that it can be found
//! in the file. Sources: vcrpy `serialize.py`; ruby VCR `lib/vcr/structs.rb`, `cassette/serializers/` (both 2026-09).

mod message;

use forkcast_sim::time::Instant;

use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::Text;
use super::value::Value;
use super::yaml::{Item, items_under};
use super::{Reading, when};
use crate::exchange::{Exchange, Origin};
use crate::http::{self, Clock, Request, Response, Sorted};

/// The reader.
pub(super) struct Python;

impl Reader for Python {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "vcr",
            what: "HTTP exchanges recorded by vcrpy, as YAML or JSON: Messages API, Bedrock and OpenRouter are billed, others counted",
            detected_by: "a top-level key `interactions`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        Probe::sure(object.is_document && object.has("interactions"))
    }

    fn yaml_key(&self) -> Option<&'static str> {
        Some("interactions")
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(file, "interactions")
    }
}

/// The reader.
pub(super) struct Ruby;

impl Reader for Ruby {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "ruby-vcr",
            what: "HTTP exchanges recorded by ruby VCR, as YAML or JSON",
            detected_by: "a top-level key `http_interactions`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        Probe::sure(object.is_document && object.has("http_interactions"))
    }

    fn yaml_key(&self) -> Option<&'static str> {
        Some("http_interactions")
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(file, "http_interactions")
    }
}

/// Reads a cassette with its interactions under `list`.
fn read(file: &File<'_>, list: &str) -> Reading {
    let text = &file.text();
    let is_json = text.bytes.trim_ascii_start().starts_with(b"{");
    let items = if is_json { json_items(text, list) } else { items_under(list, text) };
    let mut cassette = Cassette { file: file.name, reading: Reading::default(), clock: Clock::default() };
    for (index, item) in items.into_iter().enumerate() {
        match item.value {
            Ok(interaction) => cassette.interaction(index, item.line, &interaction),
            Err(fault) => cassette.reading.damage(fault),
        }
    }
    if !is_json && !has_end(text) {
        cassette.reading.notes.push(CUT.to_owned());
    }
    cassette.reading
}

/// YAML that is cut between two lines is still YAML.
const CUT: &str = "no `version` and no `recorded_with` after the interactions: the cassette may be cut in its last one";

/// Keys that both recorders write after the list.
fn has_end(text: &Text<'_>) -> bool {
    text.lines().any(|(_, _, line)| line.starts_with(b"version:") || line.starts_with(b"recorded_with:"))
}

fn json_items(text: &Text<'_>, list: &str) -> Vec<Item> {
    let (ranges, fault) = text.elements_under(list);
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
        let read = self.exchange(index, line, interaction);
        self.reading.take(line, format_args!("interaction {index}"), read);
    }

    fn exchange(&mut self, index: usize, line: usize, interaction: &Value) -> Result<Option<Exchange>, String> {
        let request = interaction.get("request").ok_or("found no `request`")?;
        let origin = Origin { file: self.file.to_owned(), index, line };
        let sent = Request {
            method: request.text_of("method").unwrap_or("POST"),
            uri: request.text_of("uri").ok_or("found no `request.uri`")?,
            headers: message::headers(request),
            body: message::body(request),
        };
        let mut exchange = match http::exchange(origin, &sent)? {
            Sorted::Model(exchange) => *exchange,
            Sorted::Elsewhere(reason) => {
                self.reading.skipped.push(format!("interaction {index}, line {line}: {reason}"));
                return Ok(None);
            }
        };
        if let Some(response) = interaction.get("response") {
            let recorded_at = interaction.text_of("recorded_at").and_then(when::http_date);
            self.answer(&mut exchange, response, recorded_at);
        }
        Ok(Some(exchange))
    }

    fn answer(&mut self, exchange: &mut Exchange, response: &Value, recorded_at: Option<Instant>) {
        let response = Response {
            status: message::status(response),
            headers: message::headers(response),
            body: message::body(response),
        };
        self.clock.stamp(exchange, &response.headers, recorded_at);
        let answer = http::attach(exchange, &response);
        self.reading.add(&exchange.origin, exchange.origin.line, answer);
    }
}
