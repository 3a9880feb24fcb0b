//! Fixtures of req_llm (Elixir): one call a file, as JSON.
//!
//! `{request{method, url, headers, body{b64}, canonical_json}, response{status, headers, body}, chunks[{b64}]?,
//! captured_at?}`. The request's body is exact; the answer's is parsed, or null beside the chunks of a stream.
//! `captured_at` is the end of the answer.
//!
//! Source: agentjido/req_llm, fixtures of 2025-11.

use std::borrow::Cow;

use super::calls::{Call, Calls, When, message};
use super::reader::{File, Object, Probe, Reader};
use super::value::Value;
use super::{Reading, when};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "req-llm",
    what: "one HTTP call a file, as req_llm records them",
    detected_by: "a top-level key `request` with `canonical_json`, or with a body in base64",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_request = |request: Object<'_>| {
        let is_packed = || request.begun("body").is_some_and(|body| body.has("b64"));
        request.has("canonical_json") || is_packed()
    };
    Probe::sure(object.is_document && object.begun("request").is_some_and(is_request))
}

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "call");
    calls.add_document(&file.text(), |document| {
        let ended = document.text_of("captured_at").and_then(when::iso);
        Call::of_pair(document, When::ByHeaders { ended }, |message| body(message, document))
    });
    calls.finish()
}

fn body<'a>(message: &'a Value, document: &'a Value) -> Result<Cow<'a, [u8]>, String> {
    let body = message.at("body");
    let chunks = document.at("chunks").elements();
    if *body == Value::Null && !chunks.is_empty() {
        let parts: Result<Vec<_>, String> = chunks.iter().map(|chunk| packed(chunk, "a chunk")).collect();
        return Ok(Cow::Owned(parts?.concat()));
    }
    match body.get("b64") {
        Some(_) => packed(body, "a body"),
        None => Ok(message::bytes(body)),
    }
}

fn packed(holder: &Value, whose: &str) -> Result<Cow<'static, [u8]>, String> {
    let text = holder.text_of("b64").ok_or_else(|| format!("found no `b64` of {whose}"))?;
    message::unpacked(text, whose)
}
