//! The data of a request in a transcript, in a ledger line.

use forkcast_sim::service::Evidence;

use crate::names::Names;
use crate::record::{Record, Value};
use crate::report::Recorded;

/// The object `transcript` of a ledger line: without the transcript there is no recording that could be replayed.
pub(super) struct TranscriptPart {
    estimated_output_tokens: Option<u64>,
    shown: Option<EvidenceLine>,
}

impl TranscriptPart {
    pub fn of(entry: &Recorded<'_>, names: Names) -> Option<Self> {
        entry.answered?;
        Some(Self {
            estimated_output_tokens: entry.output.map(|output| output.tokens),
            shown: entry.evidence.as_ref().map(|shown| EvidenceLine::of(shown, names)),
        })
    }
}

record! {
    TranscriptPart, "transcript":
    tokens "estimated_output_tokens", "The answer by estimate." =>
        |part| part.estimated_output_tokens, null("if it is recorded");
    record: EvidenceLine, "shown", "The line of the transcript that shows why it missed." =>
        |part| part.shown.as_ref().map(Record::value), null("if none does");
}

/// The line of a transcript that shows why a request missed.
pub(in crate::format) struct EvidenceLine {
    file: String,
    line: usize,
    shows: String,
}

impl EvidenceLine {
    pub fn of(shown: &Evidence, names: Names) -> Self {
        Self { file: names.file(&shown.file), line: shown.line as usize, shows: shown.shows.to_owned() }
    }
}

record! {
    EvidenceLine, "shown":
    text "file", "The file." => |shown| Value::text(&shown.file);
    ordinal "line", "Its line, from 1." => |shown| shown.line;
    text "shows", "What it shows." => |shown| Value::text(&shown.shows);
}
