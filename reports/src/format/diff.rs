//! `forkcast.diff/1`: the first finding's fields, the further findings, and harmless notes.

use std::io::{self, Write};

use serde::Serialize;

use super::number::Usd;
use crate::comparison::{Finding, Sides, sentence};
use crate::document::Marked;

/// Name and version.
pub const SCHEMA: &str = "forkcast.diff/1";

/// Writes a comparison as one JSON object; `content` puts the bytes around each difference in.
///
/// # Errors
/// When the target cannot be written.
pub fn write(sides: &Sides<'_>, content: bool, target: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *target, &DiffObject::of(sides, content))?;
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
    chain: Option<String>,
    request: Option<usize>,
    level: Option<&'static str>,
    path: Option<String>,
    name: Option<String>,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    cause: Option<&'static str>,
    volatile: Option<&'static str>,
    breaks_prefix: bool,
    offset_range: Option<[u64; 2]>,
    tokens_lost: u64,
    cost_usd: Option<Usd>,
    cost_usd_per_day: Option<Usd>,
    prices: String,
    provider_reason: Option<&'static str>,
    suggestion: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
    findings: Vec<FindingObject>,
    notes: Vec<NoteObject>,
}

#[derive(Clone, Serialize)]
struct FindingObject {
    chain: Option<String>,
    request: Option<usize>,
    level: &'static str,
    path: String,
    name: String,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    cause: &'static str,
    volatile: Option<&'static str>,
    breaks_prefix: bool,
    offset_range: Option<[u64; 2]>,
    tokens_lost: u64,
    cost_usd: Option<Usd>,
    cost_usd_per_day: Option<Usd>,
    provider_reason: Option<&'static str>,
    suggestion: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
}

#[derive(Clone, Serialize)]
struct WindowObject {
    older: String,
    newer: String,
}

#[derive(Serialize)]
struct NoteObject {
    note: &'static str,
    path: String,
    detail: &'static str,
}

impl DiffObject {
    fn of(sides: &Sides<'_>, content: bool) -> Self {
        let findings: Vec<FindingObject> =
            sides.findings().iter().map(|found| FindingObject::of(sides, found, content)).collect();
        let first = findings.first().cloned();
        let alignment = &sides.comparison.alignment;
        let [older, newer] = sides.titles.map(|title| sides.names.file(title));
        Self {
            schema: SCHEMA,
            older,
            newer,
            shared_blocks: alignment.partner.iter().flatten().count(),
            older_blocks: alignment.old_len,
            newer_blocks: alignment.partner.len(),
            chain: sides.origin.0.map(|chain| sides.names.agent(chain)),
            request: sides.origin.1,
            level: first.as_ref().map(|found| found.level),
            path: first.as_ref().map(|found| found.path.clone()),
            name: first.as_ref().map(|found| found.name.clone()),
            offset_in_block: first.as_ref().and_then(|found| found.offset_in_block),
            offset_in_prefix: first.as_ref().and_then(|found| found.offset_in_prefix),
            cause: first.as_ref().map(|found| found.cause),
            volatile: first.as_ref().and_then(|found| found.volatile),
            breaks_prefix: first.as_ref().is_some_and(|found| found.breaks_prefix),
            offset_range: first.as_ref().and_then(|found| found.offset_range),
            tokens_lost: first.as_ref().map_or(0, |found| found.tokens_lost),
            cost_usd: first.as_ref().and_then(|found| found.cost_usd),
            cost_usd_per_day: None,
            prices: sides.prices.clone(),
            provider_reason: first.as_ref().and_then(|found| found.provider_reason),
            suggestion: first.as_ref().map(|found| found.suggestion),
            window: first.and_then(|found| found.window),
            findings: findings.into_iter().skip(1).collect(),
            notes: notes(sides),
        }
    }
}

impl FindingObject {
    fn of(sides: &Sides<'_>, finding: &Finding<'_>, content: bool) -> Self {
        let found = finding.difference;
        Self {
            chain: sides.origin.0.map(|chain| sides.names.agent(chain)),
            request: sides.origin.1,
            level: found.level.name(),
            path: found.path.clone(),
            name: sides.names.thing(&found.name),
            offset_in_block: found.offset_in_block,
            offset_in_prefix: found.offset_in_prefix,
            cause: found.cause.word(),
            volatile: found.volatile.map(|volatile| volatile.word()),
            breaks_prefix: finding.breaks_prefix,
            offset_range: finding.offset_range,
            tokens_lost: finding.tokens_lost,
            cost_usd: finding.cost.map(Usd),
            cost_usd_per_day: None,
            provider_reason: found.cause.provider_reason(),
            suggestion: found.cause.suggestion(),
            window: finding.windows.as_ref().filter(|_| content).map(window),
        }
    }
}

fn window([older, newer]: &[Marked; 2]) -> WindowObject {
    WindowObject { older: older.whole(), newer: newer.whole() }
}

fn notes(sides: &Sides<'_>) -> Vec<NoteObject> {
    let note = |found: crate::comparison::Harmless<'_>| NoteObject {
        note: found.note.word(),
        path: found.path.to_owned(),
        detail: sentence(found.note),
    };
    sides.notes().into_iter().map(note).collect()
}
