//! Recordings of Datadog's proxy for tests (`ddapm-test-agent`, of dd-trace-js): one call a file, as JSON.
//!
//! `{request{method, url, headers, body}, response{status{code, message}, headers, body}}`; bodies are text, those that
//! are no text (streams of AWS) `base64:` and base64. The answer's `Date` is the only instant. Older recordings of the
//! same tests are cassettes of vcrpy.
//!
//! Source: DataDog/dd-trace-js, recorded cassettes of 2025-08 to 2026-07.

use std::borrow::Cow;

use super::Reading;
use super::calls::{Call, Calls, When, message};
use super::reader::{File, Object, Probe, Reader};
use super::value::Value;

/// The beginning of a body that is no text.
const PACKED: &str = "base64:";

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "datadog",
    what: "one HTTP call a file, as Datadog's proxy for tests records them",
    detected_by: "top-level keys `request` (with `url`, `headers` and a text as `body`) and `response`",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_request = |request: Object<'_>| request.has_all(&["method", "url"]) && request.text("body").is_some();
    Probe::sure(object.is_document && object.begun("request").is_some_and(is_request))
}

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "call");
    calls.add_document(&file.text(), |pair| Call::of_pair(pair, When::ByHeaders { ended: None }, body));
    calls.finish()
}

fn body(message: &Value) -> Result<Cow<'_, [u8]>, String> {
    let body = message.at("body");
    match body.as_text().and_then(|text| text.strip_prefix(PACKED)) {
        Some(packed) => message::unpacked(packed, "a body"),
        None => Ok(message::bytes(body)),
    }
}
