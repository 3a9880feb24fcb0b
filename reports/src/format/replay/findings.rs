//! What is listed request by request: exceptions and misses that nothing explains.

use forkcast_replay::agreement::Compared;
use forkcast_sim::diagnosis::Cause;
use serde::Serialize;

use crate::format::number::{Millis, Usd};
use crate::report::{Entry, Report, misses};

/// A comparable request that the rules do not predict as recorded.
#[derive(Serialize)]
pub(super) struct ExceptionObject {
    session: String,
    file: String,
    index: usize,
    line: usize,
    at_ms: Option<Millis>,
    model: String,
    recorded_verdict: &'static str,
    predicted_verdict: &'static str,
    recorded_read_tokens: u64,
    predicted_read_tokens: u64,
    /// An earlier request had shown the size of the predicted read.
    size_known: bool,
    /// The nearest known prefixes around the predicted read.
    between: [u64; 2],
    causes: Vec<&'static str>,
}

/// Missed tokens that nothing in the input explains.
#[derive(Serialize)]
pub(super) struct UnexplainedObject {
    session: String,
    file: String,
    index: usize,
    line: usize,
    at_ms: Option<Millis>,
    model: String,
    tokens: u64,
    cost_usd: Option<Usd>,
}

pub(super) fn exceptions(report: &Report<'_>) -> Vec<ExceptionObject> {
    report.exceptions().map(|(entry, compared)| exception(report, entry, compared)).collect()
}

fn exception(report: &Report<'_>, entry: &Entry<'_>, compared: &Compared) -> ExceptionObject {
    ExceptionObject {
        session: session(report, entry),
        file: report.names.file(&entry.origin.file),
        index: entry.origin.index,
        line: entry.origin.line,
        at_ms: entry.line.at.map(Millis),
        model: entry.line.model.clone(),
        recorded_verdict: compared.recorded.word(),
        predicted_verdict: compared.predicted.word(),
        recorded_read_tokens: compared.recorded_usage.cache_read_input_tokens,
        predicted_read_tokens: compared.predicted_usage.cache_read_input_tokens,
        size_known: compared.size_known,
        between: compared.between.into(),
        causes: entry.line.charge.causes.iter().map(|part| part.cause.word()).collect(),
    }
}

pub(super) fn unexplained(report: &Report<'_>) -> Vec<UnexplainedObject> {
    let found = misses(report).into_iter().filter(|miss| miss.cause == Cause::Unexplained);
    found
        .map(|miss| UnexplainedObject {
            session: session(report, miss.entry),
            file: report.names.file(&miss.entry.origin.file),
            index: miss.entry.origin.index,
            line: miss.entry.origin.line,
            at_ms: miss.entry.line.at.map(Millis),
            model: miss.entry.line.model.clone(),
            tokens: miss.tokens,
            cost_usd: miss.cost.map(Usd),
        })
        .collect()
}

fn session(report: &Report<'_>, entry: &Entry<'_>) -> String {
    report.session_of(entry).map(|session| session.id.clone()).unwrap_or_default()
}
