//! Recordings of httpmock (Rust): one YAML document per call, in order.
//!
//! `when{path, method, query_param[], header[{name, value}], body}` is the request, `then{status, header[], body,
//! body_encoding}` the answer; `body_encoding: base64` for bodies that are no text. The files have no instants and no hosts:
//! the address is that of the provider whose name one of the folders has (`…/xai/prompt_caching/probe.yaml`), and without
//! such a folder it is unknown. Some projects sort the keys of bodies when they remove what is secret.
//!
//! Sources: alexliesenfeld/httpmock, `src/common/data.rs`; 0xPlaygrounds/rig, recorded cassettes of 2026-08.

use std::borrow::Cow;

use super::Reading;
use super::calls::{Call, Calls, When, message};
use super::reader::{File, Probe, Reader};
use super::value::Value;
use super::yaml::documents;
use crate::http::{self, Request, Response};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "httpmock",
    what: "HTTP calls recorded by httpmock, one YAML document each; a folder names the provider",
    detected_by: "top-level keys `when` and `then`",
    probe: |_| Probe::No,
    read,
    yaml_keys: &["when", "then"],
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let host = http::host_by_folder(file.name);
    let mut is_whole = true;
    let mut calls = Calls::new(file, "call");
    for (index, item) in documents(&file.text()).into_iter().enumerate() {
        match item.value {
            Ok(document) => {
                calls.add(index, item.line, call(&document, host));
                is_whole = document.at("then").get("body").is_some();
            }
            Err(fault) => calls.reading.damage(fault),
        }
    }
    if !is_whole || !file.bytes.ends_with(b"\n") {
        calls.reading.notes.push(CUT.to_owned());
    }
    calls.finish()
}

/// YAML that is cut between two lines is still YAML.
const CUT: &str = "no `then.body` in the last call, or no line break after it: the file may be cut";

fn call<'a>(document: &'a Value, host: &str) -> Result<Call<'a>, String> {
    let request = document.get("when").ok_or("found no `when`")?;
    if let Some(name) = document.repeated(READER.yaml_keys) {
        return Err(format!("found `{name}` twice, expected a line `---` between two calls"));
    }
    let path = request.text_of("path").ok_or("found no `when.path`")?;
    let response = |response| Response {
        status: message::status(response),
        headers: message::headers(response),
        body: body(response),
    };
    Ok(Call {
        request: Request {
            method: request.text_of("method").unwrap_or("POST").into(),
            uri: format!("https://{host}{path}").into(),
            headers: message::headers(request),
            body: body(request),
        },
        response: document.get("then").map(response),
        when: When::ByHeaders { ended: None },
    })
}

fn body(message: &Value) -> Result<Cow<'_, [u8]>, String> {
    let body = message.at("body");
    match (message.text_of("body_encoding"), body.as_text()) {
        (Some("base64"), Some(packed)) => message::unpacked(packed, "a body"),
        _ => Ok(message::bytes(body)),
    }
}
