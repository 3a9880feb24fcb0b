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

use super::calls::{Call, Calls, When};
use super::json::{self, member, member_text};
use super::reader::{File, Probe, Reader};
use super::{Reading, when};
use crate::http::{Headers, Request, Response};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "claude-trace",
    what: "requests and answers of Claude Code as claude-trace logs them",
    detected_by: "lines with keys `request`, `response` and `logged_at`",
    probe: |object| Probe::sure(object.has_all(&["request", "logged_at"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut calls = Calls::new(file, "pair");
    let lines = text.lines().filter(|(_, _, line)| !line.trim_ascii().is_empty());
    for (index, (number, start, line)) in lines.enumerate() {
        let pair = match serde_json::from_slice::<Pair<'_>>(line) {
            Ok(pair) => pair,
            Err(error) => {
                calls.reading.damage(text.record_fault(start, line, &error));
                continue;
            }
        };
        calls.add(index, number, call(&pair));
        let is_read = calls.reading.exchanges.last().is_some_and(|exchange| exchange.origin.index == index);
        if is_read && pair.response.is_none() {
            calls.reading.notes.push(format!("exchange {index}: no answer came before the log ended"));
        }
    }
    calls.finish()
}

#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    response: Option<&'a RawValue>,
    logged_at: Option<String>,
}

fn call<'a>(pair: &'a Pair<'_>) -> Result<Call<'a>, String> {
    let request = pair.request.get().as_bytes();
    let response = pair.response.map(|response| response.get().as_bytes());
    let first_byte = response.and_then(timestamp);
    let logged_at = pair.logged_at.as_deref().filter(|_| response.is_some());
    Ok(Call {
        request: Request {
            method: member_text(request, "method").unwrap_or(Cow::Borrowed("POST")),
            uri: member_text(request, "url").ok_or("found no `request.url`")?,
            headers: headers(request),
            body: Ok(body(member(request, "body"))),
        },
        response: response.map(answer),
        when: When::Recorded {
            sent: timestamp(request),
            first_byte,
            ended: logged_at.and_then(when::iso).max(first_byte),
        },
    })
}

fn answer(response: &[u8]) -> Response<'_> {
    Response {
        status: member(response, "status_code").and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok()),
        headers: headers(response),
        body: Ok(body(member(response, "body").or_else(|| member(response, "body_raw")))),
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
