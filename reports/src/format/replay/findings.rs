//! What is listed request by request: exceptions and misses that nothing explains.

use forkcast_sim::diagnosis::Cause;
use serde::Serialize;

use crate::format::number::{Millis, Usd};
use crate::report::{Exception, Place, Report};

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
    report.exceptions.iter().map(|found| exception(report, found)).collect()
}

fn exception(report: &Report<'_>, found: &Exception) -> ExceptionObject {
    let Exception { place, compared, causes } = found;
    ExceptionObject {
        session: session(report, place),
        file: report.names.file(&place.file),
        index: place.file_index,
        line: place.line,
        at_ms: place.at.map(Millis),
        model: report.names.model(&place.model).into_owned(),
        recorded_verdict: compared.recorded.word(),
        predicted_verdict: compared.predicted.word(),
        recorded_read_tokens: compared.recorded_usage.cache_read_input_tokens,
        predicted_read_tokens: compared.predicted_usage.cache_read_input_tokens,
        size_known: compared.size_known,
        between: compared.between.into(),
        causes: causes.iter().map(|cause| cause.word()).collect(),
    }
}

pub(super) fn unexplained(report: &Report<'_>) -> Vec<UnexplainedObject> {
    let found = report.misses.iter().filter(|miss| miss.cause == Cause::Unexplained);
    found
        .map(|miss| UnexplainedObject {
            session: session(report, &miss.place),
            file: report.names.file(&miss.place.file),
            index: miss.place.file_index,
            line: miss.place.line,
            at_ms: miss.place.at.map(Millis),
            model: report.names.model(&miss.place.model).into_owned(),
            tokens: miss.tokens,
            cost_usd: miss.cost.map(Usd),
        })
        .collect()
}

fn session(report: &Report<'_>, place: &Place) -> String {
    report.session(place.session).map(|session| session.id.clone()).unwrap_or_default()
}
