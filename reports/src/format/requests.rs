//! The ledger as one flat table of comma-separated values.
//!
//! A request that enters no sum (it has no usage, others have) has no figure here either, so that each column adds up to what the
//! report says. What the rules predict of it stands in `ledger.jsonl`.

use std::io::{self, Write};

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::Money;

use super::number::{Millis, cell};
use super::usage;
use crate::document::csv;
use crate::report::{Recorded, Report};

/// Names of the columns.
pub(super) const COLUMNS: [&str; 33] = [
    "index",
    "session",
    "chain",
    "file",
    "file_index",
    "at_ms",
    "model",
    "recorded_input_tokens",
    "recorded_cache_read_input_tokens",
    "recorded_ephemeral_5m_input_tokens",
    "recorded_ephemeral_1h_input_tokens",
    "recorded_output_tokens",
    "predicted_input_tokens",
    "predicted_cache_read_input_tokens",
    "predicted_ephemeral_5m_input_tokens",
    "predicted_ephemeral_1h_input_tokens",
    "predicted_output_tokens",
    "cost_usd",
    "fees_usd",
    "predicted_cost_usd",
    "perfect_cost_usd",
    "unread_writes_usd",
    "comparable",
    "not_comparable_reason",
    "recorded_verdict",
    "predicted_verdict",
    "read_tokens",
    "new_tokens",
    "missed_tokens",
    "cause",
    "causes",
    "first_difference_path",
    "first_difference_name",
];

/// Writes the head.
///
/// # Errors
/// When the target cannot be written.
pub fn begin(target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, COLUMNS)
}

/// Writes the row of a request.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, row(report, entry))
}

/// Hands on a row for each request.
pub(super) fn each(report: &Report<'_>, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
    let mut taken = Ok(());
    report.each(&mut |entry| {
        if taken.is_ok() {
            taken = take(row(report, entry));
        }
    });
    taken
}

fn row(report: &Report<'_>, entry: &Recorded<'_>) -> Vec<String> {
    let line = &entry.line;
    let mut row = vec![
        line.index.to_string(),
        report.session_of(entry).map(|session| session.id.clone()).unwrap_or_default(),
        report.agent_of(entry).unwrap_or_default().to_owned(),
        report.names.file(&entry.origin.file),
        entry.origin.index.to_string(),
        line.at.map(|at| Millis(at).to_string()).unwrap_or_default(),
        report.names.model(&line.model).into_owned(),
    ];
    row.extend(usage::cells(line.recorded.as_ref()));
    let is_counted = report.counted.counts(entry);
    row.extend(if is_counted { figures(report, line) } else { vec![String::new(); FIGURES] });
    row.extend(comparison(entry));
    let mut explained = explanation(report, entry);
    if !is_counted {
        explained[..TOKENS].fill(String::new());
    }
    row.extend(explained);
    row
}

/// Cells of predicted usage and of money.
const FIGURES: usize = 10;

/// Cells of tokens read, new and missed.
const TOKENS: usize = 3;

/// Where something is predicted, a request without a profile is predicted as it was recorded.
fn figures(report: &Report<'_>, line: &Line) -> Vec<String> {
    let bill = line.charge.bill.as_ref();
    let as_recorded = line.predicted.is_none() && report.totals.predicted.is_some();
    let (predicted, predicted_bill) = match as_recorded {
        true => (line.recorded, bill),
        false => (line.predicted, line.predicted_bill.as_ref()),
    };
    let mut cells: Vec<String> = usage::cells(predicted.as_ref()).into();
    cells.extend([
        cell(bill.map(|bill| bill.total)),
        cell(bill.map(|bill| bill.fees.iter().map(|fee| fee.cost).sum::<Money>())),
        cell(predicted_bill.map(|bill| bill.total)),
        cell(line.charge.perfect),
        cell(line.unread_writes),
    ]);
    cells
}

fn comparison(entry: &Recorded<'_>) -> [String; 4] {
    match &entry.comparison {
        Ok(compared) => [
            "true".to_owned(),
            String::new(),
            compared.recorded.word().to_owned(),
            compared.predicted.word().to_owned(),
        ],
        Err(why) => ["false".to_owned(), why.word().to_owned(), String::new(), String::new()],
    }
}

fn explanation(report: &Report<'_>, entry: &Recorded<'_>) -> [String; 7] {
    let Some(explanation) = &entry.line.explanation else { return Default::default() };
    let causes: Vec<&str> = entry.line.charge.causes.iter().map(|part| part.cause.word()).collect();
    let largest = entry.line.charge.causes.iter().max_by_key(|part| part.tokens);
    let first = explanation.differences.first();
    [
        explanation.read_tokens.to_string(),
        explanation.new_tokens.to_string(),
        explanation.missed_tokens().to_string(),
        largest.map(|part| part.cause.word().to_owned()).unwrap_or_default(),
        causes.join(" "),
        first.map(|found| found.path.clone()).unwrap_or_default(),
        first.map(|found| report.names.thing(&found.name)).unwrap_or_default(),
    ]
}
