//! `forkcast.diff/1`: the first finding's fields, the further findings, and harmless notes.

use std::io::{self, Write};

use forkcast_sim::guard::{Finding, Judged};
use serde::Serialize;

use super::change::{ChangeObject, Shown};
use super::json_text;
use crate::comparison::{Harmless, Sides, sentence};
use crate::names::Names;

/// Name and version.
pub const SCHEMA: &str = "forkcast.diff/1";

/// Writes a comparison as one JSON object; `content` puts the bytes around each difference in.
///
/// # Errors
/// When the target cannot be written.
pub fn write(sides: &Sides<'_>, content: bool, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &DiffObject::of(sides, content))?;
    writeln!(target)
}

#[derive(Serialize)]
struct DiffObject {
    schema: &'static str,
    older: String,
    newer: String,
    shared_blocks: usize,
    older_blocks: usize,
    newer_blocks: usize,
    prices: String,
    #[serde(flatten)]
    first: FindingObject,
    findings: Vec<FindingObject>,
    notes: Vec<NoteObject>,
}

#[derive(Serialize)]
struct FindingObject {
    chain: Option<String>,
    request: Option<usize>,
    #[serde(flatten)]
    change: ChangeObject,
}

#[derive(Serialize)]
struct NoteObject {
    note: &'static str,
    path: String,
    detail: &'static str,
}

impl DiffObject {
    fn of(sides: &Sides<'_>, content: bool) -> Self {
        let judged = sides.judged();
        let mut findings = judged.findings.iter().map(|found| change(sides, found, content));
        let alignment = &sides.comparison.alignment;
        let [older, newer] = sides.titles.map(|title| sides.names.file(title));
        Self {
            schema: SCHEMA,
            older,
            newer,
            shared_blocks: alignment.partner.iter().flatten().count(),
            older_blocks: alignment.old_len,
            newer_blocks: alignment.partner.len(),
            prices: sides.prices.clone(),
            first: FindingObject::of(sides, findings.next().unwrap_or_else(ChangeObject::nothing)),
            findings: findings.map(|change| FindingObject::of(sides, change)).collect(),
            notes: notes(sides, &judged),
        }
    }
}

impl FindingObject {
    fn of(sides: &Sides<'_>, change: ChangeObject) -> Self {
        let (chain, request) = sides.origin;
        Self { chain: chain.map(|chain| sides.names.agent(chain)), request, change }
    }
}

fn change(sides: &Sides<'_>, found: &Finding, content: bool) -> ChangeObject {
    let shown = Shown {
        name: sides.names.thing(&found.name),
        suggestion: found.cause.suggestion().to_owned(),
        requests_per_day: None,
        windows: content && sides.names == Names::Plain,
    };
    ChangeObject::of(found, shown)
}

fn notes(sides: &Sides<'_>, judged: &Judged) -> Vec<NoteObject> {
    let note = |found: Harmless| NoteObject { note: found.note.word(), path: found.path, detail: sentence(found.note) };
    sides.notes(judged).into_iter().map(note).collect()
}
