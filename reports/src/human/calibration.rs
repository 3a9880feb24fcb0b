//! Text about counted sizes: their difference from the bill, and the fitted factors.

use forkcast_replay::calibrate::{
    Calibration, ClassFit, GenerationFit, LeftOut, Quality, Residual, built_in_thousandths,
};
use forkcast_replay::replay::SizeSource;
use forkcast_sim::wire::model::Tokenizer;

use crate::document::{Cell, Column, Document, Table, count};
use crate::report::{Report, SizeRow};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    counted(report, document);
    if let Some(fit) = &report.options.sizing.calibration {
        fitted(fit, document);
    }
}

fn counted(report: &Report<'_>, document: &mut Document) {
    let sizes = &report.sizes;
    if sizes.source == SizeSource::Recorded {
        return;
    }
    document.heading("Error of counted sizes");
    let mut lines = vec![match sizes.source {
        SizeSource::Counted => {
            "Predictions use only counted sizes; the billed ones are shown for comparison.".to_owned()
        }
        _ => "Predictions use recorded sizes; the counted ones are shown for comparison.".to_owned(),
    }];
    lines.extend(sizes.rows.iter().filter_map(residual));
    lines.extend(left_out(&sizes.left_out, sizes.uncounted));
    document.text(lines);
    let rows: Vec<&SizeRow> = sizes.rows.iter().filter(|row| row.requests > 0).collect();
    let table = Table::of("sizes", &rows)
        .with(Column::left("Tokenizer", "tokenizer"), |row| Cell::text(row.tokenizer.word()))
        .with(Column::left("Count", "quality"), |row| Cell::text(row.quality.word()))
        .with(Column::right("Requests", "requests"), |row| Cell::Count(row.requests))
        .with(Column::right("Billed", "recorded_tokens"), |row| Cell::Count(row.recorded_tokens))
        .with(Column::right("Counted", "counted_tokens"), |row| Cell::Count(row.counted_tokens))
        .with(Column::right("Error", "error"), |row| Cell::Error(row.error()))
        .with(Column::right("9 of 10 within", "p90_error"), |row| Cell::Share(row.p90_error));
    if !rows.is_empty() {
        document.table(table.whole());
    }
}

/// The known error of a count from other input.
fn residual(row: &SizeRow) -> Option<String> {
    if row.quality != Quality::Calibrated && row.requests == 0 {
        return None;
    }
    quality(row.tokenizer, row.quality, row.residual).map(|sentence| format!("{sentence}."))
}

/// The quality of a tokenizer's count; `residual` is its measured error.
pub(super) fn quality(tokenizer: Tokenizer, quality: Quality, residual: Option<Residual>) -> Option<String> {
    let word = tokenizer.word();
    match quality {
        Quality::Calibrated => Some(format!("{word} is an estimate: {}", measured(&residual?))),
        Quality::Borrowed => {
            Some(format!("{word} is counted in o200k, another maker's vocabulary: its error has not been measured"))
        }
        Quality::Exact => {
            Some(format!("{word} is the maker's own vocabulary: exact for text; tools and images are estimates"))
        }
    }
}

fn measured(residual: &Residual) -> String {
    format!(
        "{:+.1} % off in sum over {} {}, nine of ten within {:.0} %",
        residual.sum_error * 100.0,
        count(residual.samples),
        residual.source,
        residual.p90_error * 100.0
    )
}

fn fitted(fit: &Calibration, document: &mut Document) {
    document.heading("Token factors fitted to these recordings");
    let mut lines: Vec<String> = fit.generations.iter().map(generation).collect();
    if lines.is_empty() {
        lines.push("No request is suitable for fitting, so the built-in factors are used.".to_owned());
    }
    lines.extend(left_out(&fit.left_out, 0));
    document.text(lines);
    let factor = |thousandths| Cell::Factor(thousandths as f64 / 1_000.0);
    let built_in = |row: &ClassFit| built_in_thousandths(row.generation, row.class);
    let table = Table::of("calibration", &fit.classes)
        .with(Column::left("Tokenizer", "tokenizer"), |row| Cell::text(row.generation.tokenizer().word()))
        .with(Column::left("Class", "class"), |row| Cell::text(row.class.name()))
        .with(Column::right("Factor", "factor"), |row| factor(row.thousandths))
        .with(Column::right("Built in", "built_in_factor"), |row| factor(built_in(row)))
        .with(Column::right("Tokens in o200k", "text_tokens"), |row| Cell::Count(row.text_tokens))
        .with(Column::right("Requests", "requests"), |row| Cell::Count(row.requests))
        .with(Column::right("Mostly of it", "largest_in_requests"), |row| Cell::Count(row.errors.requests))
        .with(Column::right("Error of these", "error"), |row| Cell::Error(row.errors.sum_error()));
    document.table(table.whole());
}

fn generation(row: &GenerationFit) -> String {
    let errors = &row.errors;
    format!(
        "{}: {} requests of {} tokens, estimated {:+.1} % in sum, nine of ten within {:.0} % (built-in factors: {:+.1} %, {:.0} %).",
        row.generation.tokenizer().word(),
        count(errors.requests),
        count(errors.recorded_tokens),
        errors.sum_error().unwrap_or(0.0) * 100.0,
        errors.p90 * 100.0,
        row.built_in.sum_error().unwrap_or(0.0) * 100.0,
        row.built_in.p90 * 100.0
    )
}

fn left_out(reasons: &std::collections::BTreeMap<LeftOut, u64>, uncounted: u64) -> Option<String> {
    let mut found: Vec<String> =
        reasons.iter().map(|(why, number)| format!("{} {}", count(*number), words(*why))).collect();
    if uncounted > 0 {
        found.push(format!("{} with a body that cannot be counted", count(uncounted)));
    }
    (!found.is_empty()).then(|| format!("Left out: {}.", super::replay::listed(&found)))
}

const fn words(why: LeftOut) -> &'static str {
    match why {
        LeftOut::OtherModel => "not answered by a known Claude model",
        LeftOut::NoUsage => "without recorded usage",
        LeftOut::ServerTools => "with server tools (sums over passes)",
        LeftOut::ContextEdited => "edited by the provider before counting",
        LeftOut::Altered => "altered in transit or by the recorder",
        LeftOut::Unreadable => "with an unreadable body",
        LeftOut::OutsideContent => "with content that is not in the body",
        LeftOut::ShowsPrefix => "that reveal the size of a hidden prefix",
        LeftOut::OtherGrowth => "followed by more than tool results",
        LeftOut::NotWhatWasBilled => "with a bill that does not fit the body",
    }
}
