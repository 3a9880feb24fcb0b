//! Cassettes of Braintrust's SDK for JavaScript: `{entries[], meta}`.
//!
//! An entry is `{callIndex, id, matchKey, recordedAt, request{method, url, headers, body}, response{status, headers,
//! body}}`; `recordedAt` is the end of the answer. A body is `{kind}` with
//!
//! | `kind` | |
//! |---|---|
//! | `json` | `value`, parsed; its keys are sorted, so the order of keys and the bytes sent are lost |
//! | `text`, `base64` | `value` |
//! | `sse` | `chunks`: one event each, without the empty line |
//! | `binary` | the bytes are in the file at `path`, from the folder of the cassette; for bodies above about 64 kB |
//! | `empty` | |
//!
//! Headers of requests are dropped. Source: braintrustdata/braintrust-sdk-javascript, recorded cassettes of 2026-05 to
//! 2026-08.

use std::borrow::Cow;
use std::path::Path;

use forkcast_sim::outside::found;

use super::calls::{Call, Calls, When, message};
use super::reader::{File, Object, Probe, Reader};
use super::value::Value;
use super::{Reading, beside, when};

/// The end of the name of a folder with bodies; before it is that of the cassette without `.json`.
const BODIES: &str = ".blobs";

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "braintrust",
    what: "HTTP calls as Braintrust's SDK for JavaScript records them, with their files of bodies",
    detected_by: "a top-level key `entries` whose first element has `matchKey` and `request`",
    probe,
    read,
    owner_of_bodies: |folder| folder.strip_suffix(BODIES),
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_entry = |entry: Object<'_>| entry.has_all(&["matchKey", "request"]);
    Probe::sure(object.is_document && object.first_under("entries").is_some_and(is_entry))
}

fn read(file: &File<'_>) -> Reading {
    let mut calls = Calls::new(file, "entry");
    calls.each(&file.text(), &["entries"], |calls, index, line, entry| {
        calls.add(index, line, call(entry, file.folder));
    });
    calls.finish()
}

fn call<'a>(entry: &'a Value, folder: Option<&Path>) -> Result<Call<'a>, String> {
    let ended = entry.text_of("recordedAt").and_then(when::iso);
    Call::of_pair(entry, When::ByHeaders { ended }, |message| body(message.at("body"), folder))
}

fn body<'a>(body: &'a Value, folder: Option<&Path>) -> Result<Cow<'a, [u8]>, String> {
    let value = body.at("value");
    match body.text_of("kind").ok_or("found no `kind` of a body")? {
        "json" => Ok(Cow::Owned(value.to_json())),
        "text" => Ok(message::bytes(value)),
        "base64" => message::unpacked(value.as_text().ok_or("found no `value` of a body")?, "a body"),
        "sse" => Ok(Cow::Owned(events(body.at("chunks").elements()))),
        "binary" => beside::read(folder, body.text_of("path").ok_or("found no `path` of a body")?).map(Cow::Owned),
        "empty" => Ok(Cow::Borrowed(&[])),
        kind => Err(format!("found a body of kind {}", found(kind))),
    }
}

/// The stream of these events.
fn events(chunks: &[Value]) -> Vec<u8> {
    chunks.iter().filter_map(Value::as_text).flat_map(|chunk| [chunk.as_bytes(), b"\n\n"]).flatten().copied().collect()
}
