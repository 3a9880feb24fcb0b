//! What a transcript tells of a request, as a ledger line has it.

use forkcast_sim::service::Evidence;
use serde::Serialize;

use crate::names::Names;
use crate::report::Recorded;

/// The object `told` of a ledger line: there is no recording that could be replayed without the transcript.
#[derive(Serialize)]
pub(super) struct ToldObject {
    client: Option<String>,
    kind: &'static str,
    estimated_output_tokens: Option<u64>,
    shown: Option<ShownObject>,
}

/// The line of a transcript that shows why a request missed.
#[derive(Serialize)]
pub(in crate::format) struct ShownObject {
    file: String,
    line: usize,
    shows: String,
}

impl ShownObject {
    pub fn of(shown: &Evidence, names: Names) -> Self {
        Self { file: names.file(&shown.file), line: shown.line as usize, shows: shown.shows.to_owned() }
    }
}

impl ToldObject {
    pub fn of(entry: &Recorded<'_>, names: Names) -> Option<Self> {
        let answered = entry.answered?;
        Some(Self {
            client: entry.client().map(|client| names.client(client)),
            kind: answered.agent.kind.word(),
            estimated_output_tokens: entry.output.map(|output| output.tokens),
            shown: entry.evidence.as_ref().map(|shown| ShownObject::of(shown, names)),
        })
    }
}
