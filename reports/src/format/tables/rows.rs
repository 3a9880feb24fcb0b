//! What is listed one by one: causes, misses, exceptions, models without a price, limits, damage, counted sizes.

use forkcast_replay::calibrate::{ClassFit, built_in_thousandths};

use super::{Rows, money};
use crate::format::number::Millis;
use crate::report::{Exception, Gate, Measure, Place, Report, SizeRow, Unpriced, gates, remarks, unpriced};

pub(super) const CAUSE: [&str; 5] = ["cause", "requests", "tokens", "cost_usd", "suggestion"];

pub(super) fn causes(report: &Report<'_>) -> Rows {
    let priced = report.totals.billed.cost.is_some();
    let causes = report.totals.causes().into_iter();
    causes
        .map(|(cause, total)| {
            vec![
                cause.word().to_owned(),
                total.requests.to_string(),
                total.tokens.to_string(),
                money(priced.then_some(total.cost)),
                cause.suggestion().to_owned(),
            ]
        })
        .collect()
}

/// How every table names a request.
const PLACE: [&str; 6] = ["index", "session", "file", "file_index", "at_ms", "model"];

pub(super) fn placed(own: &[&'static str]) -> Vec<&'static str> {
    PLACE.iter().chain(own).copied().collect()
}

fn place(report: &Report<'_>, place: &Place) -> Vec<String> {
    vec![
        place.index.to_string(),
        report.session(place.session).map(|session| session.id.clone()).unwrap_or_default(),
        report.names.file(&place.file),
        place.file_index.to_string(),
        place.at.map(|at| Millis(at).to_string()).unwrap_or_default(),
        report.names.model(&place.model).into_owned(),
    ]
}

pub(super) const MISS: [&str; 6] = ["cause", "tokens", "cost_usd", "path", "name", "volatile"];

pub(super) fn miss_rows(report: &Report<'_>) -> Rows {
    let misses = report.misses.iter();
    misses
        .map(|miss| {
            let mut row = place(report, &miss.place);
            let found = miss.difference.as_deref();
            row.extend([
                miss.cause.word().to_owned(),
                miss.tokens.to_string(),
                money(miss.cost),
                found.map(|found| found.path.clone()).unwrap_or_default(),
                found.map(|found| report.names.thing(&found.name)).unwrap_or_default(),
                found.and_then(|found| found.volatile).map(|volatile| volatile.word().to_owned()).unwrap_or_default(),
            ]);
            row
        })
        .collect()
}

pub(super) const EXCEPTION: [&str; 5] =
    ["recorded_verdict", "predicted_verdict", "recorded_read_tokens", "predicted_read_tokens", "causes"];

pub(super) fn exceptions(report: &Report<'_>) -> Rows {
    let row = |found: &Exception| {
        let (mut row, compared) = (place(report, &found.place), &found.compared);
        let causes: Vec<&str> = found.causes.iter().map(|cause| cause.word()).collect();
        row.extend([
            compared.recorded.word().to_owned(),
            compared.predicted.word().to_owned(),
            compared.recorded_usage.cache_read_input_tokens.to_string(),
            compared.predicted_usage.cache_read_input_tokens.to_string(),
            causes.join(" "),
        ]);
        row
    };
    report.exceptions.iter().map(row).collect()
}

pub(super) const UNPRICED: [&str; 4] = ["model", "requests", "tokens", "reason"];

pub(super) fn unpriced_rows(report: &Report<'_>) -> Rows {
    let row = |model: Unpriced| {
        let reason = model.reason().to_owned();
        vec![model.model, model.requests.to_string(), model.tokens.to_string(), reason]
    };
    unpriced(report).into_iter().map(row).collect()
}

pub(super) const GATE: [&str; 5] = ["name", "limit", "found", "passed", "undecided"];

pub(super) fn gate_rows(report: &Report<'_>) -> Rows {
    let number = |measure| match measure {
        Measure::Cost(cost) => cost.to_string(),
        Measure::HitRate(part) => part.to_string(),
        Measure::Tokens(tokens) => tokens.to_string(),
    };
    let row = |gate: Gate| {
        vec![
            gate.name.to_owned(),
            number(gate.limit),
            gate.found.map(number).unwrap_or_default(),
            gate.passed.to_string(),
            gate.undecided.unwrap_or_default(),
        ]
    };
    gates(report).into_iter().map(row).collect()
}

pub(super) const DAMAGE: [&str; 4] = ["what", "file", "line", "reason"];

pub(super) fn damage(report: &Report<'_>) -> Rows {
    let names = report.names;
    let row = |what: &str, file: &str, line: usize, reason: &str| {
        let line = if line == 0 { String::new() } else { line.to_string() };
        vec![what.to_owned(), names.file(file), line, names.message(reason)]
    };
    let unreadable = report.unreadable().map(|found| row("unreadable", &found.file, found.line, &found.reason));
    let repaired = report.inputs.repaired.iter().map(|found| row("repaired", &found.file, found.line, &found.what));
    let skipped = report.inputs.skipped.iter().map(|found| row("passed over", &found.file, 0, &found.reason));
    unreadable.chain(repaired).chain(skipped).collect()
}

pub(super) fn remark_rows(report: &Report<'_>) -> Rows {
    remarks(report).into_iter().map(|(remark, requests)| vec![remark, requests.to_string()]).collect()
}

pub(super) const FEE: [&str; 3] = ["name", "count", "cost_usd"];

pub(super) fn fees(report: &Report<'_>) -> Rows {
    let fees = report.totals.fees.iter();
    fees.map(|(name, (count, cost))| vec![name.clone(), count.to_string(), cost.to_string()]).collect()
}

pub(super) const SIZE: [&str; 7] =
    ["tokenizer", "quality", "requests", "counted_tokens", "recorded_tokens", "error", "p90_error"];

pub(super) fn size_rows(report: &Report<'_>) -> Rows {
    let row = |row: &SizeRow| {
        vec![
            row.tokenizer.word().to_owned(),
            row.quality.word().to_owned(),
            row.requests.to_string(),
            row.counted_tokens.to_string(),
            row.recorded_tokens.to_string(),
            number(row.error()),
            number(row.p90_error),
        ]
    };
    report.sizes.rows.iter().map(row).collect()
}

pub(super) const FACTOR: [&str; 7] =
    ["tokenizer", "class", "factor", "built_in_factor", "text_tokens", "requests", "error"];

pub(super) fn factors(report: &Report<'_>) -> Rows {
    let row = |row: &ClassFit| {
        vec![
            row.generation.tokenizer().word().to_owned(),
            row.class.name().to_owned(),
            (row.thousandths as f64 / 1_000.0).to_string(),
            (built_in_thousandths(row.generation, row.class) as f64 / 1_000.0).to_string(),
            row.text_tokens.to_string(),
            row.requests.to_string(),
            number(row.errors.sum_error()),
        ]
    };
    let fit = report.options.sizing.calibration.as_ref();
    fit.map(|fit| fit.classes.iter().map(row).collect()).unwrap_or_default()
}

fn number(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
