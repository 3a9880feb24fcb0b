//! `forkcast.diff/1`: the first finding's fields, the further findings, and harmless notes.

use std::io::{self, Write};

use forkcast_sim::guard::{Finding, Judged};

use super::change::{Change, Visible};
use super::words::notes;
use crate::comparison::{Harmless, Sides, sentence};
use crate::names::Names;
use crate::record::{Shape, Value, list, pretty};

/// Name and version.
pub const SCHEMA: &str = "forkcast.diff/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "Two requests: the first finding's fields (null if there is none), the further \
                                findings, harmless notes. Contains no text of prompts unless requested.";

/// Writes a comparison as one JSON object; `content` puts the bytes around each difference in.
///
/// # Errors
/// When the target cannot be written.
pub fn write(sides: &Sides<'_>, content: bool, target: &mut dyn Write) -> io::Result<()> {
    pretty(&Diff { sides, judged: &sides.judged(), content }, target)
}

/// A comparison and its findings.
pub(super) struct Diff<'a> {
    sides: &'a Sides<'a>,
    judged: &'a Judged,
    content: bool,
}

impl<'a> Diff<'a> {
    fn found(&self, finding: Option<&'a Finding>) -> FindingOf<'a> {
        FindingOf { sides: self.sides, finding, content: self.content }
    }
}

/// When a field is null.
const KEPT: &str = "if all thinking may be sent again, or the model does not check it";

record! {
    Diff<'_>, "diff":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    text "older", "The older request." => |it| it.sides.names.file(it.sides.titles[0]);
    text "newer", "The newer." => |it| it.sides.names.file(it.sides.titles[1]);
    count "shared_blocks", "Blocks in both." =>
        |it| it.sides.comparison.alignment.partner.iter().flatten().count(), unit("blocks");
    count "older_blocks", "Blocks of the older." => |it| it.sides.comparison.alignment.old_len, unit("blocks");
    count "newer_blocks", "Blocks of the newer." => |it| it.sides.comparison.alignment.partner.len(), unit("blocks");
    text "prices", "Which prices these are, for people, such as `list prices of 2026-11-21`." =>
        |it| Value::text(&it.sides.prices);
    flat: FindingOf<'_>, => |it| it.found(it.judged.findings.first()).value();
    records: FindingOf<'_>, "findings", "Further findings, in prompt order." =>
        |it| list(it.judged.findings.iter().skip(1).map(|finding| it.found(Some(finding))));
    text "thinking_path", "The first thinking in the newer request that its provider rejects or drops." =>
        |it| it.judged.thinking.as_ref().map(|rejected| rejected.path.clone()), null(KEPT);
    text "thinking_answer", "What the provider does with it, and why." =>
        |it| it.judged.thinking.as_ref().map(|rejected| rejected.answer.clone()), null(KEPT);
    records: Harmless, "notes", "Harmless differences." => |it| list(it.sides.notes(it.judged));
}

/// A finding, or that there is none.
struct FindingOf<'a> {
    sides: &'a Sides<'a>,
    finding: Option<&'a Finding>,
    content: bool,
}

impl<'a> FindingOf<'a> {
    fn change(&self) -> Change<'a> {
        Change(self.finding.map(|finding| Visible {
            finding,
            name: self.sides.names.thing(&finding.name),
            suggestion: self.sides.names.thing(&finding.suggestion()),
            requests_per_day: None,
            windows: self.content && self.sides.names == Names::Plain,
        }))
    }
}

record! {
    FindingOf<'_>, "finding":
    text "chain", "The chain of both." =>
        |it| it.sides.origin.0.map(|chain| it.sides.names.agent(chain)), null("if they are in no recording");
    ordinal "request", "Position of the newer request in its recording." =>
        |it| it.sides.origin.1, null("if it is in none");
    flat: Change<'_>, => |it| it.change().value();
}

record! {
    Harmless, "harmless":
    field "note", notes, "Its kind." => |found| found.note.word();
    text "path", "Its level." => |found| Value::text(&found.path);
    text "detail", "Its meaning." => |found| sentence(found.note);
}
