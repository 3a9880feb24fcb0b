//! Logs of claude-trace: `{request, response, logged_at}` line by line.
//!
//! `request{timestamp, method, url, headers, body}`, `response{timestamp, status_code, headers, body | body_raw}` or
//! null (`note: "ORPHANED_REQUEST …"`: the program ended first). Timestamps are in seconds; the answer's is the arrival
//! of its headers, which is close to its first byte, and `logged_at` is the end of its body. Bodies are JSON that was
//! parsed and written again, with keys in their order; streams are text in `body_raw`, including the binary ones of
//! Bedrock.
//!
//! Source: badlogic/lemmy `apps/claude-trace/src/interceptor.ts` and `docs/backend/jsonl-logs.md` (2026-11).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{self, member, member_text};
use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::Text;
use super::{Passed, Reading, when};
use crate::exchange::{Exchange, Origin};
use crate::http::{self, Headers, Request, Response, Sorted};

/// The reader.
pub(super) struct ClaudeTrace;

impl Reader for ClaudeTrace {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "claude-trace",
            what: "requests and answers of Claude Code as claude-trace logs them",
            detected_by: "lines with keys `request`, `response` and `logged_at`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        Probe::sure(object.has_all(&["request", "logged_at"]))
    }

    fn read(&self, file: &File<'_>) -> Reading {
        let text = &file.text();
        let mut log = Log { file: file.name, text, reading: Reading::default(), passed: Passed::default(), index: 0 };
        for (number, start, line) in text.lines() {
            if !line.trim_ascii().is_empty() {
                log.line(number, start, line);
            }
        }
        log.passed.finish(&mut log.reading);
        log.reading
    }
}

#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    response: Option<&'a RawValue>,
    logged_at: Option<String>,
}

struct Log<'a> {
    file: &'a str,
    text: &'a Text<'a>,
    reading: Reading,
    passed: Passed,
    index: usize,
}

impl Log<'_> {
    fn line(&mut self, number: usize, start: usize, line: &[u8]) {
        let index = self.index;
        self.index += 1;
        let pair = match serde_json::from_slice::<Pair<'_>>(line) {
            Ok(pair) => pair,
            Err(error) => return self.reading.damage(self.text.record_fault(start, line, &error)),
        };
        let read = self.exchange(index, number, &pair);
        self.reading.take(number, format_args!("pair {index}"), read);
    }

    fn exchange(&mut self, index: usize, line: usize, pair: &Pair<'_>) -> Result<Option<Exchange>, String> {
        let request = pair.request.get().as_bytes();
        let method = member_text(request, "method");
        let uri = member_text(request, "url").ok_or("found no `request.url`")?;
        let sent = Request {
            method: method.as_deref().unwrap_or("POST"),
            uri: &uri,
            headers: headers(request),
            body: Ok(body(member(request, "body"))),
        };
        let origin = Origin { file: self.file.to_owned(), index, line };
        let mut exchange = match http::exchange(origin, &sent)? {
            Sorted::Model(exchange) => *exchange,
            Sorted::Elsewhere(reason) => {
                self.passed.add(&mut self.reading, &format!("pair {index}, line {line}: {reason}"));
                return Ok(None);
            }
        };
        exchange.sent_at = timestamp(request);
        match pair.response {
            Some(response) => self.answer(&mut exchange, response.get().as_bytes(), pair.logged_at.as_deref()),
            None => self.reading.notes.push(format!("exchange {index}: no answer came before the log ended")),
        }
        Ok(Some(exchange))
    }

    fn answer(&mut self, exchange: &mut Exchange, response: &[u8], logged_at: Option<&str>) {
        exchange.first_byte_at = timestamp(response);
        exchange.ended_at = logged_at.and_then(when::iso).max(exchange.first_byte_at);
        let response = Response {
            status: member(response, "status_code").and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok()),
            headers: headers(response),
            body: Ok(body(member(response, "body").or_else(|| member(response, "body_raw")))),
        };
        let answer = http::attach(exchange, &response);
        self.reading.add(&exchange.origin, exchange.origin.line, answer);
    }
}

/// Seconds with decimals, as the text of the number.
fn timestamp(message: &[u8]) -> Option<forkcast_sim::time::Instant> {
    when::seconds(std::str::from_utf8(member(message, "timestamp")?).ok()?)
}

/// A body that was JSON is JSON; any other is a string.
fn body(raw: Option<&[u8]>) -> Cow<'_, [u8]> {
    let Some(raw) = raw.filter(|raw| *raw != b"null") else { return Cow::Borrowed(&[]) };
    match json::text(raw) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        None => Cow::Borrowed(raw),
    }
}

fn headers(message: &[u8]) -> Headers<'_> {
    let mut headers = Headers::default();
    let Some(object) = member(message, "headers") else { return headers };
    for (name, value) in json::members(object).map_while(Result::ok) {
        if let (Some(name), Some(value)) = (json::text(name), json::text(value)) {
            headers.push(name, value);
        }
    }
    headers
}
