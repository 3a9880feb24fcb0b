//! HAR 1.2 archives: `log.entries[]` with `request`, `response`, `startedDateTime`, `time`, `timings`.
//!
//! Written by browsers, Charles, Proxyman, Reqable and mitmproxy (`save.har`, `hardump`). The differences between them:
//!
//! * Bodies: `postData.text` and `content.text` are text, or base64 if their `encoding` says so (mitmproxy and browsers
//!   for binary contents, Charles and Reqable for any); they are decompressed, or compressed as `content-encoding`
//!   says.
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

use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::value::{Value, unpacked_base64};
use super::{Passed, Reading, json};
use crate::error::Fault;
use crate::exchange::{Exchange, Origin};
use crate::http::{self, Headers, Request, Response, Sorted};

/// The reader.
pub(super) struct Har;

impl Reader for Har {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "har",
            what: "HTTP archives (HAR 1.2) with contents, of a browser, Charles, Proxyman or mitmproxy (`save.har`, `hardump`)",
            detected_by: "a top-level key `log` with `entries` in it",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        // Keys before the entries count too, in case the file is damaged after them.
        let is_archive = |log: Object<'_>| log.has_any(&["entries", "creator", "pages"]);
        Probe::sure(object.is_document && object.begun("log").is_some_and(is_archive))
    }

    fn read(&self, file: &File<'_>) -> Reading {
        let text = &file.text();
        let creator = creator(text.bytes);
        let mut archive = Archive {
            file: file.name,
            is_mitmproxy: creator.is_some_and(|name| name.contains("mitmproxy")),
            reading: Reading::default(),
            passed: Passed::default(),
            requests_without_body: Vec::new(),
            answers_without_body: Vec::new(),
        };
        let (ranges, fault) = text.elements_at(&["log", "entries"]);
        for (index, range) in ranges.into_iter().enumerate() {
            let line = text.line_of(range.start);
            match Value::from_json(&text.bytes[range.clone()]) {
                Ok(entry) => archive.entry(index, line, &entry),
                Err(error) => archive.reading.damage(text.json_fault(range.start, &error)),
            }
        }
        if archive.reading.unreadable.is_empty() {
            fault.into_iter().for_each(|fault| archive.reading.damage(fault));
        }
        archive.finish()
    }
}

/// `log.creator.name`, if it can be read before the entries.
fn creator(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let log = bytes.get(json::value_start(bytes, "log")?..)?;
    let creator = log.get(json::value_start(log, "creator")?..)?;
    json::member_text(creator, "name")
}

struct Archive<'a> {
    file: &'a str,
    is_mitmproxy: bool,
    reading: Reading,
    passed: Passed,
    /// Lines of the model requests that have no body.
    requests_without_body: Vec<(usize, usize)>,
    /// Lines of the entries whose answer has no content.
    answers_without_body: Vec<(usize, usize)>,
}

impl Archive<'_> {
    fn entry(&mut self, index: usize, line: usize, entry: &Value) {
        let read = self.exchange(index, line, entry);
        self.reading.take(line, format_args!("entry {index}"), read);
    }

    fn exchange(&mut self, index: usize, line: usize, entry: &Value) -> Result<Option<Exchange>, String> {
        let request = entry.get("request").ok_or("found no `request`")?;
        let data = request.at("postData");
        let body = content(data, "request");
        let absent = matches!(&body, Ok(None));
        let sent = Request {
            method: request.text_of("method").unwrap_or("GET"),
            uri: request.text_of("url").ok_or("found no `request.url`")?,
            headers: headers(request),
            body: body.map(Option::unwrap_or_default),
        };
        let origin = Origin { file: self.file.to_owned(), index, line };
        let mut exchange = match http::exchange(origin, &sent) {
            Ok(Sorted::Model(exchange)) => *exchange,
            Ok(Sorted::Elsewhere(reason)) => {
                self.passed.add(&mut self.reading, &format!("entry {index}, line {line}: {reason}"));
                return Ok(None);
            }
            Err(_) if absent => {
                self.requests_without_body.push((index, line));
                return Ok(None);
            }
            Err(what) => return Err(what),
        };
        instants::stamp(&mut exchange, entry, self.is_mitmproxy);
        self.answer(&mut exchange, entry.at("response"));
        Ok(Some(exchange))
    }

    fn answer(&mut self, exchange: &mut Exchange, response: &Value) {
        let status = response.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        if matches!(status, None | Some(0)) {
            (exchange.first_byte_at, exchange.ended_at) = (None, None);
            self.reading.notes.push(format!("exchange {}: no answer was recorded (status 0)", exchange.origin.index));
            return;
        }
        let body = content(response.at("content"), "answer");
        let absent = matches!(&body, Ok(None));
        let response = Response { status, headers: headers(response), body: body.map(Option::unwrap_or_default) };
        if absent {
            exchange.status = status;
            if !exchange.failed() {
                self.answers_without_body.push((exchange.origin.index, exchange.origin.line));
            }
            return;
        }
        let answer = http::attach(exchange, &response);
        self.reading.add(&exchange.origin, exchange.origin.line, answer);
    }

    fn finish(mut self) -> Reading {
        self.passed.finish(&mut self.reading);
        self.missing(&self.requests_without_body.clone(), "request", "postData.text");
        self.missing(&self.answers_without_body.clone(), "answer", "content.text");
        self.reading
    }

    /// One sentence, however many entries lack something.
    fn missing(&mut self, entries: &[(usize, usize)], what: &str, field: &str) {
        let Some((index, line)) = entries.first() else { return };
        let which = match entries.len() {
            1 => format!("entry {index} holds no body of its {what}"),
            count => format!("{count} entries, the first of them {index}, hold no body of their {what}"),
        };
        let advice = "export the archive with contents, from a proxy if a browser leaves streamed answers out";
        self.reading.damage(Fault::in_line(*line, format!("{which} (`{field}`): {advice}")));
    }
}

/// The text of `postData` or `content`; `None` if the recorder left it out.
fn content<'a>(holder: &'a Value, whose: &str) -> Result<Option<Cow<'a, [u8]>>, String> {
    let Some(text) = holder.text_of("text").filter(|text| !text.is_empty()) else {
        return match holder.get("_file") {
            Some(_) => Err(format!("the body of the {whose} lies in another file (`_file`), embed contents instead")),
            None => Ok(None),
        };
    };
    match holder.text_of("encoding") {
        Some(encoding) if encoding.eq_ignore_ascii_case("base64") => {
            let bytes = unpacked_base64(text).map_err(|error| format!("body of the {whose} is no base64: {error}"))?;
            Ok(Some(Cow::Owned(bytes)))
        }
        _ => Ok(Some(Cow::Borrowed(text.as_bytes()))),
    }
}

fn headers(message: &Value) -> Headers<'_> {
    let mut headers = Headers::default();
    for header in message.at("headers").elements() {
        if let (Some(name), Some(value)) = (header.text_of("name"), header.text_of("value")) {
            headers.push(name, value);
        }
    }
    headers
}
