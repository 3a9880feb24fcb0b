//! How well the rules explain the recording, with the exceptions one by one.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::NotComparable;
use forkcast_sim::wire::Usage;

mod explanation;
mod fidelity;

use super::listed;
use crate::document::{Cell, Column, Document, Table, count, several};
use crate::report::{Exception, Miss, Report};

/// The smallest error of the cost that is shown as a number.
const COST_ERROR_SHOWN: f64 = 0.0001;

/// Most exceptions and unexplained misses shown to people: a recording of bodies should have none, so each is worth a
/// line; for transcripts a few examples are enough.
const SHOWN: usize = 20;
const SHOWN_OF_SESSIONS: usize = 5;

fn shown(report: &Report<'_>) -> usize {
    if report.has_transcripts() { SHOWN_OF_SESSIONS } else { SHOWN }
}

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let sums = &report.totals.agreement.sums;
    let compared = sums.comparable > 0;
    let passed_over = not_comparable(report);
    if !compared && passed_over.is_empty() {
        return;
    }
    let transcripts = report.has_transcripts();
    document.heading(if transcripts { FORECAST } else { "Do the rules explain the recording?" });
    let mut lines = Vec::new();
    if compared {
        lines.push(format!(
            "{} of {} have the recorded verdict (cold, partial, full).",
            count(sums.same_verdict),
            several(sums.comparable, "comparable request"),
        ));
        lines.push(reads(report));
        lines.push(tokens(report));
        lines.extend(misses(report));
        lines.extend(sessions_within(report).filter(|_| transcripts));
    }
    if !passed_over.is_empty() {
        lines.push(format!("Not comparable: {}.", listed(&passed_over)));
    }
    document.text(lines);
    fidelity::add(report, document);
    explanation::add(report, transcripts, document);
    exceptions(report, document);
    // Those of sessions are among the largest misses.
    if !transcripts {
        unexplained(report, document);
    }
}

/// When a request of a transcript is predicted, its usage except total and lifetime, and any diagnosis, are hidden.
const FORECAST: &str = "Forecast: how well is each request predicted before its usage is seen?";

/// Sessions with a predicted input cost near the recorded one.
fn sessions_within(report: &Report<'_>) -> Option<String> {
    const NEAR: f64 = 0.03;
    let errors: Vec<f64> =
        report.sessions.iter().filter_map(|session| session.account.agreement.cost_error()).collect();
    let near = errors.iter().filter(|error| error.abs() <= NEAR).count() as u64;
    (errors.len() > 1).then(|| {
        format!(
            "{} of {} have a predicted input cost within 3 % of the recorded one.",
            count(near),
            several(errors.len() as u64, "session"),
        )
    })
}

/// Exact reads, and reads of prefixes with a size that no earlier request had shown.
fn reads(report: &Report<'_>) -> String {
    let agreement = &report.totals.agreement;
    let exact = format!("{} of the reads are predicted to the token", count(agreement.reads_exact));
    match agreement.sums.reads_agree.saturating_sub(agreement.reads_exact) {
        0 => format!("{exact}."),
        1 => format!("{exact}, 1 more is between the known prefixes around it."),
        between => format!("{exact}, {} more are between the known prefixes around them.", count(between)),
    }
}

fn tokens(report: &Report<'_>) -> String {
    let sums = &report.totals.agreement.sums;
    let off = format!(
        "Predicted reads are {} tokens off, of {} recorded.",
        count(sums.read_tokens_abs_error),
        count(sums.read_tokens_recorded),
    );
    match report.totals.agreement.cost_error() {
        Some(0.0) => format!("{off} The input cost is as recorded."),
        Some(error) if error.abs() < COST_ERROR_SHOWN => {
            format!("{off} The predicted input cost is within 0.01 % of the recorded one.")
        }
        Some(error) => {
            let side = if error < 0.0 { "below" } else { "above" };
            let absolute = report.totals.agreement.absolute_error().unwrap_or_default();
            format!(
                "{off} The predicted input cost is {:.2} % {side} the recorded one; the errors of single requests add up to \
                 {:.2} %.",
                error.abs() * 100.0,
                absolute * 100.0,
            )
        }
        None => off,
    }
}

/// Misses that were foreseen, and foreseen ones that did not come.
fn misses(report: &Report<'_>) -> Option<String> {
    let sums = &report.totals.agreement.sums;
    let foreseen = (sums.misses > 0).then(|| {
        let misses = if sums.misses == 1 { "1 miss".to_owned() } else { format!("{} misses", count(sums.misses)) };
        format!("{misses} of over 3,000 tokens, {} foreseen.", count(sums.misses_foreseen))
    });
    let rules: Vec<String> =
        sums.not_come.iter().map(|(rule, requests)| format!("{} ({rule})", count(*requests))).collect();
    let not_come = (!rules.is_empty()).then(|| format!("Foreseen, but not recorded: {}.", listed(&rules)));
    let sentences: Vec<String> = [foreseen, not_come].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn not_comparable(report: &Report<'_>) -> Vec<String> {
    let sums = &report.totals.agreement.sums;
    let counts = NotComparable::ALL.iter().zip(sums.not_comparable).filter(|(_, number)| *number > 0);
    counts.map(|(why, number)| format!("{} {}", count(number), why_not(*why))).collect()
}

const fn why_not(why: NotComparable) -> &'static str {
    match why {
        NotComparable::FirstOfChain => "first of their chain",
        NotComparable::Prewarmed => "prewarmed (read a prefix that was not sent here lately)",
        NotComparable::ServerTools => "with server tools (sums over passes)",
        NotComparable::NoMarker => "without a breakpoint",
        NotComparable::NoUsage => "without recorded usage",
        NotComparable::NoProfile => "to providers without a cache profile",
    }
}

fn exceptions(report: &Report<'_>, document: &mut Document) {
    let found = &report.exceptions;
    if found.is_empty() {
        return;
    }
    document.heading(format!("Not as predicted: {}", several(found.len() as u64, "request")));
    let causes = |found: &Exception| found.causes.iter().map(|cause| cause.word().to_owned()).collect::<Vec<_>>();
    let read = |usage: &Usage| Cell::Count(usage.cache_read_input_tokens);
    let table = Table::of("exceptions", found)
        .first(shown(report), "exceptions (--table exceptions lists all)")
        .with(Column::name("Request", "request"), |found| Cell::Text(report.spot(&found.place)))
        .with(Column::right("Read, recorded", "recorded_read_tokens"), |found| read(&found.compared.recorded_usage))
        .with(Column::right("predicted", "predicted_read_tokens"), |found| read(&found.compared.predicted_usage))
        .with(Column::left("Verdict", "recorded_verdict"), |found| Cell::text(found.compared.recorded.word()))
        .with(Column::left("predicted", "predicted_verdict"), |found| Cell::text(found.compared.predicted.word()))
        .with(Column::wrap("Why the recorded read fell short", "causes").kept(), |found| {
            Cell::Text(listed(&causes(found)))
        });
    document.table(table.whole());
}

fn unexplained(report: &Report<'_>, document: &mut Document) {
    let found: Vec<&Miss> = report.misses.iter().filter(|miss| miss.cause == Cause::Unexplained).collect();
    if found.is_empty() {
        return;
    }
    document.heading(format!("Unexplained: {}", several(found.len() as u64, "request")));
    let table = Table::of("unexplained", &found)
        .first(shown(report), "requests (--table misses lists all)")
        .with(Column::name("Request", "request"), |miss| Cell::Text(report.spot(&miss.place)))
        .with(Column::right("Tokens", "tokens"), |miss| Cell::Count(miss.tokens))
        .with(Column::right("Cost", "cost_usd"), |miss| Cell::Money(miss.cost));
    document.table(table.whole());
}
