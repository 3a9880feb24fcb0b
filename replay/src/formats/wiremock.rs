//! Stubs that WireMock recorded: one call a file, as JSON, in a folder `mappings`.
//!
//! `request{method, urlPath | url, bodyPatterns[{equalToJson}]}` is a matcher, not the bytes sent; `response{status,
//! headers, body | jsonBody | base64Body | bodyFileName}`, where files are in `__files` beside `mappings`. The host is
//! missing: one of the folders may have the provider's name, as in `anthropic/mappings`. The answer's `Date` is the only
//! instant.
//!
//! Sources: WireMock documentation, *Record and Playback* and *JSON API* (2026-11); braintrustdata/braintrust-sdk-java,
//! stubs of 2026-05.

use std::borrow::Cow;
use std::path::Path;

use super::calls::{Call, Calls, When, message};
use super::reader::{File, Object, Probe, Reader};
use super::value::Value;
use super::{Reading, beside};
use crate::http::{self, Request, Response};

/// Keys with the address; the first two have it literally.
const ADDRESSES: [&str; 5] = ["urlPath", "url", "urlPathPattern", "urlPattern", "urlPathTemplate"];

/// The folder of stubs.
const STUBS: &str = "mappings";

/// The folder of bodies beside it.
const BODIES: &str = "__files";

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "wiremock",
    what: "stubs recorded by WireMock (`mappings`, with the bodies in `__files` beside it)",
    detected_by: "a top-level key `request` with a `urlPath` or `bodyPatterns`",
    probe,
    read,
    owner_of_bodies: |folder| (folder == BODIES).then_some(STUBS),
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_matcher = |request: Object<'_>| request.has("bodyPatterns") || request.has_any(&ADDRESSES[..1]);
    Probe::sure(object.is_document && object.begun("request").is_some_and(is_matcher))
}

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "stub");
    calls.add_document(&file.text(), |stub| call(stub, file));
    calls.finish()
}

fn call<'a>(stub: &'a Value, file: &File<'_>) -> Result<Call<'a>, String> {
    let request = stub.get("request").ok_or("found no `request`")?;
    let path = ADDRESSES.iter().find_map(|key| request.text_of(key)).ok_or("found no `request.urlPath`")?;
    let response = |response| Response {
        status: message::status(response),
        headers: message::headers(response),
        body: answer(response, file.folder),
    };
    Ok(Call {
        request: Request {
            method: request.text_of("method").unwrap_or("POST").into(),
            uri: format!("https://{}{path}", http::host_by_folder(file.name)).into(),
            headers: http::Headers::default(),
            body: Ok(asked(request)),
        },
        response: stub.get("response").map(response),
        when: When::ByHeaders { ended: None },
    })
}

/// The body that the matcher expects; empty if it expects none.
fn asked(request: &Value) -> Cow<'_, [u8]> {
    let patterns = request.at("bodyPatterns").elements().iter();
    let body = patterns.flat_map(|pattern| ["equalToJson", "equalTo"].map(|key| pattern.get(key))).flatten().next();
    message::bytes(body.unwrap_or(&Value::Null))
}

fn answer<'a>(response: &'a Value, folder: Option<&Path>) -> Result<Cow<'a, [u8]>, String> {
    if let Some(name) = response.text_of("bodyFileName") {
        return beside::read(folder.and_then(Path::parent), &format!("{BODIES}/{name}")).map(Cow::Owned);
    }
    match response.text_of("base64Body") {
        Some(packed) => message::unpacked(packed, "`base64Body`"),
        None => Ok(message::bytes(response.get("jsonBody").unwrap_or(response.at("body")))),
    }
}
