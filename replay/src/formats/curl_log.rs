//! Logs of calls line by line, as scripts around curl write them.
//!
//! `{start_timestamp, end_timestamp, request{method, url, headers, body}, response{status_line, headers[{name, value}],
//! body_json, body_text}}`: dates with zone, the request's body as parsed JSON. Other keys (a run's name, the stage of an
//! experiment) are not read.
//!
//! Source: sanand0/datastories, `openai-caching` (2025-10).

use std::borrow::Cow;

use super::calls::{Call, Calls, When, message};
use super::reader::{File, Probe, Reader};
use super::value::Value;
use super::{Reading, when};
use crate::http::{Request, Response};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "curl-log",
    what: "HTTP calls line by line, as scripts around curl log them",
    detected_by: "lines with keys `start_timestamp` and `request`",
    probe: |object| Probe::sure(object.has_all(&["start_timestamp", "request"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "call");
    calls.each_record(&file.text(), |calls, index, line, record| calls.add(index, line, call(record)));
    calls.finish()
}

fn call(record: &Value) -> Result<Call<'_>, String> {
    let request = record.get("request").ok_or("found no `request`")?;
    let response = |response| Response {
        status: status(response),
        headers: message::headers(response),
        body: Ok(answer(response)),
    };
    let instant = |name| record.text_of(name).and_then(when::iso);
    Ok(Call {
        request: Request {
            method: request.text_of("method").unwrap_or("POST").into(),
            uri: request.text_of("url").ok_or("found no `request.url`")?.into(),
            headers: message::headers(request),
            body: Ok(message::bytes(request.at("body"))),
        },
        response: record.get("response").filter(|response| **response != Value::Null).map(response),
        when: When::Recorded { sent: instant("start_timestamp"), first_byte: None, ended: instant("end_timestamp") },
    })
}

/// The status in `HTTP/2 200`.
fn status(response: &Value) -> Option<u16> {
    response.text_of("status_line")?.split(' ').nth(1)?.parse().ok()
}

fn answer(response: &Value) -> Cow<'_, [u8]> {
    let parsed = response.get("body_json").filter(|body| **body != Value::Null);
    message::bytes(parsed.unwrap_or(response.at("body_text")))
}
