//! `forkcast.ledger/1`: a line of JSON for each request, with everything that is known of it but its text.

use std::borrow::Cow;
use std::io::{self, Write};

use forkcast_sim::diagnosis::Explanation;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Bill, FeeLine};
use forkcast_sim::service::NotComparable;
use serde::Serialize;

pub mod exchange;
pub mod simulated;
pub(super) mod told;

use exchange::Stored;
use told::ToldObject;

use super::difference::DifferenceObject;
use super::json_text;
use super::number::{Millis, Usd};
use super::usage::UsageObject;
use crate::names::Names;
use crate::report::{Recorded, Report};

/// Name and version.
pub const SCHEMA: &str = "forkcast.ledger/1";

/// Writes the line of a request.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    json_text::compact(target, &LineObject::of(report, entry))?;
    writeln!(target)
}

#[derive(Serialize)]
struct LineObject<'a> {
    schema: &'static str,
    index: usize,
    session: Option<&'a str>,
    chain: Option<&'a str>,
    origin: OriginObject,
    at_ms: Option<Millis>,
    first_byte_ms: Option<Millis>,
    model: Cow<'a, str>,
    recorded: Option<UsageObject>,
    predicted: Option<UsageObject>,
    bill: Option<Vec<BillLineObject>>,
    fees: Vec<FeeLineObject>,
    cost_usd: Option<Usd>,
    predicted_cost_usd: Option<Usd>,
    perfect_cost_usd: Option<Usd>,
    unread_writes_usd: Option<Usd>,
    comparison: ComparisonObject,
    explanation: Option<ExplanationObject>,
    causes: Vec<CauseObject>,
    differences: Vec<DifferenceObject>,
    notes: Vec<&'static str>,
    remarks: Vec<String>,
    exchange: Option<Stored>,
    told: Option<ToldObject>,
}

impl<'a> LineObject<'a> {
    fn of(report: &'a Report<'_>, entry: &'a Recorded<'_>) -> Self {
        let line = &entry.line;
        let explanation = line.explanation.as_ref();
        Self {
            schema: SCHEMA,
            index: line.index,
            session: report.session_of(entry).map(|session| session.id.as_str()),
            chain: report.agent_of(entry),
            origin: OriginObject {
                file: report.names.file(&entry.origin.file),
                index: entry.origin.index,
                line: entry.origin.line,
            },
            at_ms: line.at.map(Millis),
            first_byte_ms: line.first_byte_at.map(Millis),
            model: report.names.model(&line.model),
            recorded: line.recorded.as_ref().map(Into::into),
            predicted: line.predicted.as_ref().map(Into::into),
            bill: line.charge.bill.as_ref().map(bill),
            fees: line.charge.bill.as_ref().map_or_else(Vec::new, fees),
            cost_usd: line.charge.bill.as_ref().map(|bill| Usd(bill.total)),
            predicted_cost_usd: line.predicted_bill.as_ref().map(|bill| Usd(bill.total)),
            perfect_cost_usd: line.charge.perfect.map(Usd),
            unread_writes_usd: line.unread_writes.map(Usd),
            comparison: ComparisonObject::of(entry),
            explanation: explanation.map(ExplanationObject::of),
            causes: causes(line),
            differences: explanation.map_or_else(Vec::new, |explanation| differences(explanation, report.names)),
            notes: explanation
                .map_or_else(Vec::new, |explanation| explanation.notes.iter().map(|note| note.word()).collect()),
            remarks: line.remarks.iter().map(|remark| report.names.message(remark)).collect(),
            exchange: stored(report, entry),
            told: ToldObject::of(entry, report.names),
        }
    }
}

fn stored(report: &Report<'_>, entry: &Recorded<'_>) -> Option<Stored> {
    let exchange = entry.exchange?;
    let scopes = report.inputs.scopes.iter().enumerate();
    let mut files = scopes.flat_map(|(scope, input)| input.files.iter().map(move |file| (scope, input, file)));
    let (scope, input, file) = files.nth(entry.line.session)?;
    let standing =
        exchange::Standing { scope, path: &input.name, session: entry.line.session, format: file.format.name() };
    Some(Stored::of(exchange, standing, report.names))
}

#[derive(Serialize)]
struct OriginObject {
    file: String,
    index: usize,
    line: usize,
}

#[derive(Serialize)]
struct BillLineObject {
    category: &'static str,
    tokens: u64,
    cost_usd: Usd,
}

fn bill(bill: &Bill) -> Vec<BillLineObject> {
    let line = |line: &forkcast_sim::pricing::BillLine| BillLineObject {
        category: line.category.word(),
        tokens: line.tokens,
        cost_usd: Usd(line.cost),
    };
    bill.lines.iter().map(line).collect()
}

/// What was charged beside tokens; part of the cost.
#[derive(Serialize)]
struct FeeLineObject {
    name: String,
    unit: String,
    count: u64,
    cost_usd: Usd,
}

fn fees(bill: &Bill) -> Vec<FeeLineObject> {
    let line = |line: &FeeLine| FeeLineObject {
        name: line.name.clone(),
        unit: line.unit.clone(),
        count: line.count,
        cost_usd: Usd(line.cost),
    };
    bill.fees.iter().map(line).collect()
}

#[derive(Serialize)]
struct ComparisonObject {
    comparable: bool,
    /// Why not.
    reason: Option<&'static str>,
    recorded_verdict: Option<&'static str>,
    predicted_verdict: Option<&'static str>,
    /// What the rules predict, also where `predicted` holds the recorded usage.
    predicted_read_tokens: Option<u64>,
    size_known: Option<bool>,
    between: Option<[u64; 2]>,
    read_agrees: Option<bool>,
}

impl ComparisonObject {
    /// Of what cannot be compared.
    fn without(why: NotComparable) -> Self {
        Self {
            comparable: false,
            reason: Some(why.word()),
            recorded_verdict: None,
            predicted_verdict: None,
            predicted_read_tokens: None,
            size_known: None,
            between: None,
            read_agrees: None,
        }
    }

    fn of(entry: &Recorded<'_>) -> Self {
        let compared = entry.comparison.as_ref();
        let known = compared.ok();
        Self {
            comparable: known.is_some(),
            reason: compared.err().map(|why| why.word()),
            recorded_verdict: known.map(|compared| compared.recorded.word()),
            predicted_verdict: known.map(|compared| compared.predicted.word()),
            predicted_read_tokens: known.map(|compared| compared.predicted_usage.cache_read_input_tokens),
            size_known: known.map(|compared| compared.size_known),
            between: known.map(|compared| compared.between.into()),
            read_agrees: known.map(|compared| compared.read_agrees()),
        }
    }
}

#[derive(Serialize)]
struct ExplanationObject {
    read_tokens: u64,
    new_tokens: u64,
    missed_tokens: u64,
    missed: Vec<MissedObject>,
}

#[derive(Serialize)]
struct MissedObject {
    cause: &'static str,
    billed_as: &'static str,
    tokens: u64,
}

impl ExplanationObject {
    fn of(explanation: &Explanation) -> Self {
        let missed = explanation.missed.iter().map(|part| MissedObject {
            cause: part.cause.word(),
            billed_as: part.billed_as.word(),
            tokens: part.tokens,
        });
        Self {
            read_tokens: explanation.read_tokens,
            new_tokens: explanation.new_tokens,
            missed_tokens: explanation.missed_tokens(),
            missed: missed.collect(),
        }
    }
}

#[derive(Serialize)]
struct CauseObject {
    cause: &'static str,
    tokens: u64,
    cost_usd: Option<Usd>,
}

fn causes(line: &Line) -> Vec<CauseObject> {
    let cause = |part: &forkcast_sim::ledger::CauseCost| CauseObject {
        cause: part.cause.word(),
        tokens: part.tokens,
        cost_usd: part.cost.map(Usd),
    };
    line.charge.causes.iter().map(cause).collect()
}

fn differences(explanation: &Explanation, names: Names) -> Vec<DifferenceObject> {
    explanation.differences.iter().map(|found| DifferenceObject::of(found, names)).collect()
}
