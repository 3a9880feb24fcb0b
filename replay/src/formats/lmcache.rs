//! LMCache's traces of agents: one line per request, with the whole text of prompt and answer.
//!
//! ```json
//! {"timestamp": 1760428221546118, "input": "<pr_description>…", "output": "THOUGHT: …", "session_id": "d80534b2…"}
//! ```
//!
//! * `timestamp` counts microseconds from the Unix epoch. Lines are not in its order (one in three of the
//!   mini-swe-agent traces is older than the previous line); here they are sorted, because prompts then grow.
//! * `input` is one text: the user's messages in sequence, without the answers between them.
//! * There is no model. Tokens are counted with the cl100k vocabulary, an estimate: the traces were published with
//!   counts of Llama 3, whose vocabulary extends it.
//!
//! Prompts are cut into blocks where they diverge from others of the file, at whole characters. Texts are measured and
//! not kept.
//!
//! Source: github.com/LMCache/lmcache-agent-trace, read 2026-11.

use std::borrow::Cow;
use std::collections::BTreeMap;

use forkcast_sim::time::Instant;
use forkcast_tokens::Vocabulary;
use serde::Deserialize;

use super::reader::{File, Probe, Reader};
use super::{Reading, when};
use crate::trace::{
    BlockSizes, Clock, Conversation, IdScope, PrefixRun, Prompts, Steps, TextBlock, Trace, TraceRequest,
};
use crate::transcript::content_digest;

/// Nanoseconds of one unit of `timestamp`.
const NANOS_PER_MICRO: u64 = 1_000;

/// The note for every file.
const ESTIMATED: &str = "tokens are estimated: the texts as the cl100k vocabulary counts them";

#[derive(Deserialize)]
struct Record<'a> {
    timestamp: u64,
    #[serde(borrow)]
    input: Cow<'a, str>,
    #[serde(default, borrow)]
    output: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
}

/// A row and its place.
struct Placed<'a> {
    index: usize,
    line: usize,
    at: Instant,
    row: Record<'a>,
}

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "lmcache",
    what: "LMCache's traces of agents: the texts of prompts and answers, no models",
    detected_by: "lines with keys `input`, `session_id` and `timestamp`",
    probe: |object| Probe::sure(object.has_all(&["input", "session_id", "timestamp"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut rows: Vec<Placed<'_>> = Vec::new();
    reading.records(text, |index, line, row: Record<'_>| {
        let at = row.timestamp.checked_mul(NANOS_PER_MICRO).map(Instant).and_then(when::believed);
        let late = || format!("`timestamp` is {}, expected microseconds from the Unix epoch", row.timestamp);
        rows.push(Placed { index, line, at: at.ok_or_else(late)?, row });
        Ok(())
    });
    let late = rows.windows(2).filter(|pair| pair[1].row.timestamp < pair[0].row.timestamp).count();
    if late > 0 {
        reading.notes.push(format!("{late} lines are older than the one before them: taken in order of time"));
    }
    rows.sort_by_key(|placed| (placed.row.timestamp, placed.index));
    if !rows.is_empty() {
        reading.notes.push(ESTIMATED.to_owned());
        reading.traces.push(trace(&rows));
    }
    reading
}

fn trace(rows: &[Placed<'_>]) -> Trace {
    let texts: Vec<&str> = rows.iter().map(|placed| placed.row.input.as_ref()).collect();
    let Prompts { runs, paths } = Prompts::cut(&texts);
    let text = |run: &PrefixRun| &texts[run.prompt][run.start..run.end];
    let sizes: Vec<u64> = runs.iter().map(|run| Vocabulary::Cl100k.count(text(run))).collect();
    let text_block =
        |run: &PrefixRun| TextBlock { digest: content_digest(text(run).as_bytes()), bytes: text(run).len() as u64 };
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<(Conversation, Steps)> = Vec::new();
    let mut trace = Trace {
        id: String::new(),
        clock: Clock::Unix,
        scope: IdScope::Trace,
        sizes: BlockSizes::Each(sizes),
        texts: runs.iter().map(text_block).collect(),
        conversations: Vec::new(),
    };
    for (placed, path) in rows.iter().zip(paths) {
        let id = placed.row.session_id.as_ref();
        let at = *places.entry(id).or_insert_with(|| {
            found.push((Conversation { id: id.to_owned(), ..Conversation::default() }, Steps::default()));
            found.len() - 1
        });
        let (conversation, steps) = &mut found[at];
        let request = request(placed, &trace, path, steps);
        conversation.requests.push(request);
    }
    trace.conversations = found.into_iter().map(|(conversation, _)| conversation).collect();
    trace
}

fn request(placed: &Placed<'_>, trace: &Trace, path: Vec<u64>, steps: &mut Steps) -> TraceRequest {
    let input_tokens = trace.tokens_of(&path, u64::MAX);
    let (kept, added) = steps.step(path);
    TraceRequest {
        index: placed.index,
        line: placed.line,
        at: placed.at,
        input_tokens,
        output_tokens: Vocabulary::Cl100k.count(&placed.row.output),
        kept,
        added,
        ..TraceRequest::default()
    }
}
