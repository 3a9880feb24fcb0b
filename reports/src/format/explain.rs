//! `forkcast.explain/1`: one request against what its cache held.

use std::io::{self, Write};

use forkcast_replay::replay::inspect::{Breakpoint, HeldEntry as Held};
use forkcast_sim::diagnosis::Provider;
use forkcast_sim::wire::model::resolve;
use serde::Serialize;

use super::change::WindowObject;
use super::difference::DifferenceObject;
use super::json_text;
use super::ledger::told::ShownObject;
use super::number::{Millis, Usd};
use super::usage::UsageObject;
use crate::comparison::Sides;
use crate::document::Marked;
use crate::explained::{Explained, state_word};
use crate::report::{Recorded, Report, statement_of_one};

/// Name and version.
pub const SCHEMA: &str = "forkcast.explain/1";

/// Writes an explanation as one JSON object; `content` puts the bytes around the first difference in.
///
/// # Errors
/// When the target cannot be written.
pub fn write(explained: &Explained<'_>, content: bool, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &ExplainObject::of(explained, content))?;
    writeln!(target)
}

/// Writes what is known of a request whose provider has no cache profile: its usage and its bill.
///
/// # Errors
/// When the target cannot be written.
pub fn write_unprofiled(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &ExplainObject::unprofiled(report, entry))?;
    writeln!(target)
}

/// Writes what a transcript tells of a request.
///
/// # Errors
/// When the target cannot be written.
pub fn write_told(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    let object = ExplainObject {
        predicted: entry.line.predicted.as_ref().map(Into::into),
        causes: causes(entry),
        told: Some(ToldObject::of(report, entry)),
        ..ExplainObject::unprofiled(report, entry)
    };
    json_text::pretty(target, &object)?;
    writeln!(target)
}

#[derive(Serialize)]
struct ExplainObject {
    schema: &'static str,
    request: usize,
    file: String,
    index_in_file: usize,
    chain: Option<String>,
    model: String,
    at_ms: Option<Millis>,
    rules: Option<&'static str>,
    recorded: Option<UsageObject>,
    predicted: Option<UsageObject>,
    total_tokens: Option<u64>,
    minimum_tokens: Option<u64>,
    levels: Vec<LevelObject>,
    breakpoints: Vec<BreakpointObject>,
    matched: Option<MatchObject>,
    entries: Vec<EntryObject>,
    nearest: Option<NearestObject>,
    cost_usd: Option<Usd>,
    perfect_cost_usd: Option<Usd>,
    prices: String,
    causes: Vec<CauseObject>,
    remarks: Vec<String>,
    told: Option<ToldObject>,
}

/// What a transcript tells of a request.
#[derive(Serialize)]
struct ToldObject {
    session: Option<String>,
    client: Option<String>,
    line: usize,
    read_tokens: Option<u64>,
    missed_tokens: Option<u64>,
    new_tokens: Option<u64>,
    shown: Option<ShownObject>,
}

impl ToldObject {
    fn of(report: &Report<'_>, entry: &Recorded<'_>) -> Self {
        let why = entry.line.explanation.as_ref();
        Self {
            session: report.session_of(entry).map(|session| session.id.clone()),
            client: entry.client().map(|client| report.names.client(client)),
            line: entry.origin.line,
            read_tokens: why.map(|why| why.read_tokens),
            missed_tokens: why.map(|why| why.missed_tokens()),
            new_tokens: why.map(|why| why.new_tokens),
            shown: entry.evidence.as_ref().map(|shown| ShownObject::of(shown, report.names)),
        }
    }
}

#[derive(Serialize)]
struct LevelObject {
    level: &'static str,
    blocks: usize,
    tokens: u64,
    blocks_sent_before: usize,
}

#[derive(Serialize)]
struct BreakpointObject {
    path: String,
    tokens: u64,
    ttl: &'static str,
    effective: bool,
    state: &'static str,
    blocks_looked_at: usize,
    found_path: Option<String>,
    found_tokens: Option<u64>,
}

/// How far the cache had the prompt, and why no further.
#[derive(Serialize)]
struct MatchObject {
    blocks: usize,
    tokens: u64,
    stopped_by: &'static str,
    sent_before_blocks: usize,
    first_new_path: Option<String>,
}

#[derive(Serialize)]
struct EntryObject {
    blocks: usize,
    tokens: u64,
    shared_blocks: usize,
    state: &'static str,
    ttl: Option<&'static str>,
    last_use_ms_ago: Option<Millis>,
    first_marked_by: usize,
    last_marked_by: usize,
}

#[derive(Serialize)]
struct NearestObject {
    entry: EntryObject,
    difference: Option<ShownDifference>,
}

#[derive(Serialize)]
struct ShownDifference {
    #[serde(flatten)]
    difference: DifferenceObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
}

#[derive(Serialize)]
struct CauseObject {
    cause: &'static str,
    tokens: u64,
    cost_usd: Option<Usd>,
    provider: Option<&'static str>,
    provider_reason: Option<&'static str>,
    suggestion: &'static str,
}

impl ExplainObject {
    fn of(explained: &Explained<'_>, content: bool) -> Self {
        let inspection = explained.inspection;
        let predicted = inspection.predicted.usage();
        Self {
            rules: Some(inspection.rules.name),
            predicted: Some((&predicted).into()),
            total_tokens: Some(inspection.total_tokens),
            minimum_tokens: Some(inspection.minimum_tokens),
            levels: levels(explained),
            breakpoints: inspection.breakpoints.iter().map(|found| breakpoint(explained, found)).collect(),
            matched: Some(MatchObject {
                blocks: explained.read_blocks(),
                tokens: inspection.predicted.read_tokens,
                stopped_by: explained.stop().word(),
                sent_before_blocks: inspection.sent_before(),
                first_new_path: explained.first_new().map(|at| explained.path(at)),
            }),
            entries: inspection.entries.iter().map(|held| held_object(explained, held)).collect(),
            nearest: nearest(explained, content),
            causes: causes(explained.entry),
            ..Self::unprofiled(explained.report, explained.entry)
        }
    }

    fn unprofiled(report: &Report<'_>, entry: &Recorded<'_>) -> Self {
        let line = &entry.line;
        let charge = &line.charge;
        Self {
            schema: SCHEMA,
            request: line.index,
            file: report.names.file(&entry.origin.file),
            index_in_file: entry.origin.index,
            chain: report.agent_of(entry).map(str::to_owned),
            model: report.names.model(&line.model).into_owned(),
            at_ms: line.at.map(Millis),
            rules: None,
            recorded: line.recorded.as_ref().map(Into::into),
            predicted: None,
            total_tokens: line.recorded.map(|usage| usage.total_input_tokens()),
            minimum_tokens: None,
            levels: Vec::new(),
            breakpoints: Vec::new(),
            matched: None,
            entries: Vec::new(),
            nearest: None,
            cost_usd: charge.bill.as_ref().map(|bill| Usd(bill.total)),
            perfect_cost_usd: charge.perfect.map(Usd),
            prices: statement_of_one(report, line.at),
            causes: Vec::new(),
            remarks: line.remarks.iter().map(|remark| report.names.message(remark)).collect(),
            told: None,
        }
    }
}

fn levels(explained: &Explained<'_>) -> Vec<LevelObject> {
    let level = |held: crate::explained::LevelHeld| LevelObject {
        level: held.level.name(),
        blocks: held.blocks,
        tokens: held.tokens,
        blocks_sent_before: held.sent_before,
    };
    explained.levels().into_iter().map(level).collect()
}

fn breakpoint(explained: &Explained<'_>, found: &Breakpoint) -> BreakpointObject {
    BreakpointObject {
        path: explained.path(found.index),
        tokens: found.tokens,
        ttl: found.marker.ttl.name(),
        effective: found.effective,
        state: state_word(found.state),
        blocks_looked_at: found.looked_at,
        found_path: found.found.map(|at| explained.path(at)),
        found_tokens: found.found.map(|at| explained.tokens_through(at)),
    }
}

fn held_object(explained: &Explained<'_>, held: &Held) -> EntryObject {
    let timed = explained.entry.line.at.is_some();
    let idle = held.life.filter(|_| timed).map(|life| explained.inspection.at.since(life.last_use));
    EntryObject {
        blocks: held.blocks,
        tokens: held.tokens,
        shared_blocks: held.shared_blocks,
        state: state_word(held.state),
        ttl: held.life.map(|life| life.ttl.name()),
        last_use_ms_ago: idle.map(|idle| Millis(forkcast_sim::time::Instant(idle.0))),
        first_marked_by: held.marked_by.0,
        last_marked_by: held.marked_by.1,
    }
}

fn nearest(explained: &Explained<'_>, content: bool) -> Option<NearestObject> {
    let nearest = explained.inspection.nearest.as_ref()?;
    let sides = explained.sides();
    let difference = sides.as_ref().and_then(|sides| shown_difference(explained, sides, content));
    Some(NearestObject { entry: held_object(explained, &nearest.entry), difference })
}

fn shown_difference(explained: &Explained<'_>, sides: &Sides<'_>, content: bool) -> Option<ShownDifference> {
    let first = sides.comparison.differences.first()?;
    let windows = sides.judged().findings.into_iter().next().and_then(|found| found.windows).filter(|_| content);
    Some(ShownDifference {
        difference: DifferenceObject::of(first, explained.report.names),
        window: windows.map(|windows| WindowObject::from(&windows.map(Marked::from))),
    })
}

fn causes(entry: &Recorded<'_>) -> Vec<CauseObject> {
    let provider = Provider::of_model(resolve(&entry.line.model));
    let differences = entry.line.explanation.as_ref().map_or(&[][..], |why| &why.differences);
    let path = |cause| differences.iter().find(|found| found.cause == cause).map_or("", |found| &found.path);
    let cause = |part: &forkcast_sim::ledger::CauseCost| CauseObject {
        cause: part.cause.word(),
        tokens: part.tokens,
        cost_usd: part.cost.map(Usd),
        provider: provider.map(Provider::word),
        provider_reason: provider.and_then(|provider| provider.reason(part.cause, path(part.cause))),
        suggestion: part.cause.suggestion(),
    };
    entry.line.charge.causes.iter().map(cause).collect()
}
