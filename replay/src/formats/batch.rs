//! Files of requests for batch interfaces, one a line: `OpenAI`'s `{custom_id, method, url, body}` and Anthropic's
//! `{custom_id, params}`. They have no instants and no answers. The provider may take them in any order; they are read in that of
//! the file. Bedrock caches nothing in batches (`providers.md` 4.1), so that its files are not read.
//!
//! Source: the batch pages of both providers (2026-09).

use forkcast_sim::pricing::ServiceTier;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reader::{File, Probe, Reader};
use super::{Reading, bodies, body};
use crate::exchange::{Exchange, Origin};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "batch",
    what: "requests of a batch file (OpenAI, Anthropic), one per line",
    detected_by: "lines with `custom_id` and `body` or `params`",
    probe: |object| Probe::sure(PAIRS.iter().any(|pair| object.has_all(pair))),
    read,
    ..Reader::BARE
};

/// The keys of the id and of the body.
const PAIRS: [[&str; 2]; 2] = [["custom_id", "body"], ["custom_id", "params"]];

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, alias = "params")]
    body: &'a RawValue,
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let (mut reading, mut exchanges) = (file.reading(), Vec::new());
    reading.records(text, |index, line, record: Record<'_>| {
        let origin = Origin { file: file.name.to_owned(), index, line };
        exchanges.push(exchange(origin, record.body.get().as_bytes())?);
        Ok(())
    });
    reading.exchanges = exchanges;
    reading
}

fn exchange(origin: Origin, request: &[u8]) -> Result<Exchange, String> {
    let model = body::look(request).map_err(|broken| broken.what.to_string())?;
    Ok(Exchange { tier: ServiceTier::Batch, ..bodies::exchange(origin, model, request)? })
}
