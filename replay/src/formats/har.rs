//! HAR 1.2 archives: `log.entries[]` with `request`, `response`, `startedDateTime`, `time`, `timings`.
//!
//! Written by browsers, Charles, Proxyman, Reqable and mitmproxy (`save.har`, `hardump`). The differences between them:
//!
//! * Bodies: `postData.text` and `content.text` are text, or base64 if their `encoding` says so (mitmproxy and browsers
//!   for binary contents, Charles and Reqable for any); they are decompressed, or compressed as `content-encoding`
//!   says.
//!   Polly.JS keeps bodies that are no text as a list of base64 parts, written as JSON.
//! * Omissions: browsers drop bodies that they no longer have, and event streams; Playwright puts bodies into separate
//!   files (`_file`). An entry without a request body is not an exchange; one without an answer has no usage.
//! * No answer: `status` 0, with the reason in `_error`.
//! * Instants: a request begins at `startedDateTime` plus the time before it was sent (`blocked`, `dns`, `connect`,
//!   which includes `ssl`); the first byte of its answer arrived `receive` before the end. mitmproxy's
//!   `startedDateTime` is the request itself, after `connect`.
//!
//! Sources: HAR 1.2 specification (W3C web-performance draft); mitmproxy `addons/savehar.py`; reqable/reqable-app issue
//! 767; alufers/mitmproxy2swagger pull request 20, for Charles (all accessed in 2026-11).

mod instants;

use std::borrow::Cow;

use super::calls::{Call, Calls, message};
use super::reader::{File, Object, Probe, Reader};
use super::value::{Value, unpacked_base64};
use super::{Reading, json};
use crate::error::Fault;
use crate::exchange::Exchange;
use crate::http::{Request, Response};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "har",
    what: "HTTP archives (HAR 1.2) with contents, of a browser, Charles, Proxyman or mitmproxy (`save.har`, `hardump`)",
    detected_by: "a top-level key `log` with `entries` in it",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    // Keys before the entries count too, in case the file is damaged after them.
    let is_archive = |log: Object<'_>| log.has_any(&["entries", "creator", "pages"]);
    Probe::sure(object.is_document && object.begun("log").is_some_and(is_archive))
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let creator = creator(text.bytes);
    let mut archive =
        Archive { is_mitmproxy: creator.is_some_and(|name| name.contains("mitmproxy")), ..Archive::default() };
    let mut calls = Calls::new(file, "entry");
    calls.each(text, &["log", "entries"], |calls, index, line, entry| {
        let exchange = archive.exchange(calls, index, line, entry);
        calls.take(index, line, exchange);
    });
    archive.report(&mut calls.reading);
    calls.finish()
}

/// `log.creator.name`, if it can be read before the entries.
fn creator(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let log = bytes.get(json::value_start(bytes, "log")?..)?;
    let creator = log.get(json::value_start(log, "creator")?..)?;
    json::member_text(creator, "name")
}

/// What is known of an archive besides its calls.
#[derive(Default)]
struct Archive {
    is_mitmproxy: bool,
    /// Index and line of the model requests that have no body.
    requests_without_body: Vec<(usize, usize)>,
    /// Index and line of the entries whose answer has no content.
    answers_without_body: Vec<(usize, usize)>,
}

impl Archive {
    fn exchange(
        &mut self,
        calls: &mut Calls<'_>,
        index: usize,
        line: usize,
        entry: &Value,
    ) -> Result<Option<Exchange>, String> {
        let request = entry.get("request").ok_or("found no `request`")?;
        let response = entry.at("response");
        let status = message::status(response).filter(|status| *status > 0);
        let (asked, answered) = (content(request.at("postData"), "request"), content(response.at("content"), "answer"));
        let lacks = |body: &Result<Option<_>, String>| matches!(body, Ok(None));
        let (asked_nothing, answered_nothing) = (lacks(&asked), lacks(&answered));
        let call = Call {
            request: Request {
                method: request.text_of("method").unwrap_or("GET").into(),
                uri: request.text_of("url").ok_or("found no `request.url`")?.into(),
                headers: message::headers(request),
                body: asked.map(Option::unwrap_or_default),
            },
            response: status.filter(|_| !answered_nothing).map(|status| Response {
                status: Some(status),
                headers: message::headers(response),
                body: answered.map(Option::unwrap_or_default),
            }),
            when: instants::of(entry, status.is_some(), self.is_mitmproxy),
        };
        let mut exchange = match calls.exchange(index, line, &call) {
            Ok(Some(exchange)) => exchange,
            Err(_) if asked_nothing => {
                self.requests_without_body.push((index, line));
                return Ok(None);
            }
            other => return other,
        };
        exchange.status = status;
        if status.is_none() {
            calls.reading.notes.push(format!("exchange {index}: no answer was recorded (status 0)"));
        } else if answered_nothing && !exchange.failed() {
            self.answers_without_body.push((index, line));
        }
        Ok(Some(exchange))
    }

    /// One sentence about all entries that lack something.
    fn report(&self, reading: &mut Reading) {
        missing(reading, &self.requests_without_body, "request", "postData.text");
        missing(reading, &self.answers_without_body, "answer", "content.text");
    }
}

fn missing(reading: &mut Reading, entries: &[(usize, usize)], what: &str, field: &str) {
    let Some((index, line)) = entries.first() else { return };
    let which = match entries.len() {
        1 => format!("entry {index} holds no body of its {what}"),
        count => format!("{count} entries, the first of them {index}, hold no body of their {what}"),
    };
    let advice = "export the archive with contents, from a proxy if a browser leaves streamed answers out";
    reading.damage(Fault::in_line(*line, format!("{which} (`{field}`): {advice}")));
}

/// The text of `postData` or `content`; `None` if the recorder left it out.
fn content<'a>(holder: &'a Value, whose: &str) -> Result<Option<Cow<'a, [u8]>>, String> {
    let Some(text) = holder.text_of("text").filter(|text| !text.is_empty()) else {
        return match holder.get("_file") {
            Some(_) => Err(format!("the body of the {whose} lies in another file (`_file`), embed contents instead")),
            None => Ok(None),
        };
    };
    if let Some(parts) = parts(text) {
        return Ok(Some(Cow::Owned(parts)));
    }
    match holder.text_of("encoding") {
        Some(encoding) if encoding.eq_ignore_ascii_case("base64") => {
            message::unpacked(text, &format!("body of the {whose}")).map(Some)
        }
        _ => Ok(Some(Cow::Borrowed(text.as_bytes()))),
    }
}

/// The bytes of a list of base64 texts, one for each part of the answer, as Polly keeps what is no text.
fn parts(text: &str) -> Option<Vec<u8>> {
    let parts: Vec<String> = text.starts_with("[\"").then(|| serde_json::from_str(text).ok())??;
    let parts: Result<Vec<_>, _> = parts.iter().map(|part| unpacked_base64(part)).collect();
    parts.ok().map(|parts| parts.concat())
}
