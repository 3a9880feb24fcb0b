//! Cassettes: HTTP exchanges of a test run, as YAML or JSON, by vcrpy, by go-vcr (1 and 2) and by ruby VCR.
//!
//! | | vcrpy | go-vcr | ruby VCR |
//! |---|---|---|---|
//! | list | `interactions[]` | `interactions[]` | `http_interactions[]` |
//! | address | `uri` | `url` | `uri` |
//! | bodies | `body`, `body.string` or a plug-in's `parsed_body`: text, parsed YAML, `!!binary` | `body`: text, `!!binary` | `body.string` or `body.base64_string`, beside `encoding`; `!binary` |
//! | status | `status.code` | `status`: `200 OK` | `status.code` |
//! | end of an answer | header `date` | that too, if it was kept; `duration` alone is no instant | `recorded_at` (an HTTP date) |
//! | end of the list | a key after it | `duration` of the last answer | a key after it |
//!
//! Headers are a value or a list of values. An exchange's index is the number of its interaction, so that it can be found
//! in the file. Sources: vcrpy `serialize.py`; go-vcr `cassette/cassette.go`; ruby VCR `lib/vcr/structs.rb`, `cassette/serializers/` (both 2026-09).

use std::borrow::Cow;

use super::calls::{Call, Calls, When, message};
use super::reader::{File, Probe, Reader};
use super::text::Text;
use super::value::Value;
use super::yaml::items_under;
use super::{Reading, when};

/// The reader.
pub(super) const READER_PYTHON: Reader = Reader {
    name: "vcr",
    what: "HTTP exchanges recorded by vcrpy or go-vcr, as YAML or JSON: Messages API, Bedrock and OpenRouter are billed, others counted",
    detected_by: "a top-level key `interactions`",
    probe: |object| Probe::sure(object.is_document && object.has("interactions")),
    read: |file| read(file, "interactions"),
    yaml_keys: &["interactions"],
    ..Reader::BARE
};

/// The reader.
pub(super) const READER_RUBY: Reader = Reader {
    name: "ruby-vcr",
    what: "HTTP exchanges recorded by ruby VCR, as YAML or JSON",
    detected_by: "a top-level key `http_interactions`",
    probe: |object| Probe::sure(object.is_document && object.has("http_interactions")),
    read: |file| read(file, "http_interactions"),
    yaml_keys: &["http_interactions"],
    ..Reader::BARE
};

/// Reads a cassette with its interactions under `list`.
fn read(file: &File<'_>, list: &str) -> Reading {
    let text = &file.text();
    let is_json = text.bytes.trim_ascii_start().starts_with(b"{");
    let mut calls = Calls::new(file, "interaction");
    if is_json {
        calls.each(text, &[list], |calls, index, line, interaction| calls.add(index, line, call(interaction)));
        return calls.finish();
    }
    let items = items_under(list, text);
    let is_timed = items.last().is_some_and(|item| item.value.as_ref().is_ok_and(is_timed));
    let ends = has_end(list, text) || is_timed && text.bytes.ends_with(b"\n");
    for (index, item) in items.into_iter().enumerate() {
        match item.value {
            Ok(interaction) => calls.add(index, item.line, call(&interaction)),
            Err(fault) => calls.reading.damage(fault),
        }
    }
    if !ends {
        calls.reading.notes.push(CUT.to_owned());
    }
    calls.finish()
}

/// YAML that is cut between two lines is still YAML.
const CUT: &str =
    "no `version` and no `recorded_with` after the interactions, and no `duration` in the last: it may be cut";

/// Whether a key follows the list, as vcrpy and ruby VCR write it.
fn has_end(list: &str, text: &Text<'_>) -> bool {
    let begun = text.lines().map(|(_, _, line)| line).skip_while(|line| !line.starts_with(list.as_bytes()));
    begun.skip(1).any(|line| line.starts_with(b"version:") || line.starts_with(b"recorded_with:"))
}

/// Whether an interaction has the last field that go-vcr writes.
fn is_timed(interaction: &Value) -> bool {
    interaction.at("response").get("duration").is_some()
}

fn call(interaction: &Value) -> Result<Call<'_>, String> {
    let ended = interaction.text_of("recorded_at").and_then(when::http_date);
    Call::of_pair(interaction, When::ByHeaders { ended }, body)
}

/// The body of a request or an answer: `parsed_body` as JSON, else `body.base64_string` decoded, else `body` or
/// `body.string` unchanged.
fn body(message: &Value) -> Result<Cow<'_, [u8]>, String> {
    if let Some(parsed) = message.get("parsed_body") {
        return Ok(Cow::Owned(parsed.to_json()));
    }
    let body = message.at("body");
    match body.text_of("base64_string") {
        Some(packed) => message::unpacked(packed, "`base64_string`"),
        None => Ok(message::bytes(body.get("string").unwrap_or(body))),
    }
}
