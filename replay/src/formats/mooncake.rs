//! Mooncake's traces of requests to a cluster: one line per request, blocks as global ids, no models, no conversations.
//!
//! ```json
//! {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353, …]}
//! ```
//!
//! * `timestamp` counts milliseconds from the start of the trace, mostly in steps of some seconds.
//! * An id identifies a block and everything before it. Blocks have 512 tokens; the last one has the rest, so there are
//!   `ceil(input_length / 512)` of them. Other publishers use smaller blocks: the size that fits most lines is used.
//!
//! Source: FAST25-release of github.com/kvcache-ai/Mooncake, read 2026-11.

use forkcast_sim::time::Instant;
use serde::Deserialize;

use super::block_ids::{BlockIds, BlocksLeft};
use super::reader::{File, Probe, Reader};
use super::{Reading, when};
use crate::count::believed;
use crate::trace::{BlockSizes, Clock, Conversation, IdScope, Steps, Trace, TraceRequest};

/// The default block size, then the other sizes that are tried; the default is used unless another fits more lines.
const SIZES: [u64; 9] = [512, 16, 32, 64, 128, 256, 1_024, 2_048, 4_096];

#[derive(Deserialize)]
struct Record {
    timestamp: u64,
    input_length: u64,
    #[serde(default)]
    output_length: u64,
    hash_ids: BlockIds,
}

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "mooncake",
    what: "Mooncake's traces of a cluster: prompts as global ids of blocks of 512 tokens, no models",
    detected_by: "lines with keys `hash_ids` and `input_length`",
    probe: |object| Probe::sure(object.has_all(&["hash_ids", "input_length"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut requests: Vec<(TraceRequest, Vec<u64>)> = Vec::new();
    let mut blocks_left = BlocksLeft::default();
    reading.records(text, |index, line, row: Record| {
        requests.push(request(index, line, row, &mut blocks_left)?);
        Ok(())
    });
    requests.sort_by_key(|(request, _)| (request.at, request.index));
    if !requests.is_empty() {
        reading.traces.push(trace(requests, &mut reading.notes));
    }
    reading
}

fn request(
    index: usize,
    line: usize,
    row: Record,
    blocks_left: &mut BlocksLeft,
) -> Result<(TraceRequest, Vec<u64>), String> {
    blocks_left.take(&row.hash_ids)?;
    let at = when::believed(Instant::from_millis(row.timestamp));
    let late = || format!("`timestamp` is {}, expected milliseconds from the start of the trace", row.timestamp);
    let request = TraceRequest {
        index,
        line,
        at: at.ok_or_else(late)?,
        input_tokens: believed("input_length", row.input_length)?,
        output_tokens: believed("output_length", row.output_length)?,
        ..TraceRequest::default()
    };
    Ok((request, row.hash_ids.0))
}

fn trace(requests: Vec<(TraceRequest, Vec<u64>)>, notes: &mut Vec<String>) -> Trace {
    let fits = |size: u64| requests.iter().filter(|(r, ids)| r.input_tokens.div_ceil(size) == ids.len() as u64).count();
    // The first of several sizes that fit equally well is used.
    let size = SIZES.into_iter().rev().max_by_key(|size| fits(*size)).unwrap_or(SIZES[0]);
    let odd = requests.len() - fits(size);
    if odd > 0 {
        notes
            .push(format!("{odd} requests whose number of blocks is not that of their size, at {size} tokens a block"));
    }
    let mut steps = Steps::default();
    let requests = requests.into_iter().map(|(mut request, ids)| {
        (request.kept, request.added) = steps.step(ids);
        request
    });
    Trace {
        id: String::new(),
        clock: Clock::Start,
        scope: IdScope::Trace,
        sizes: BlockSizes::Equal(size),
        texts: Vec::new(),
        conversations: vec![Conversation { requests: requests.collect(), ..Conversation::default() }],
    }
}
