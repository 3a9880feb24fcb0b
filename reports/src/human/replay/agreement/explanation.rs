//! The other measure: how much of the missed tokens has a cause if the usage and the provider's own diagnosis are
//! known.

use forkcast_replay::rebuild::forecast::INTERVAL_PER_MILLE;
use forkcast_replay::transcript::DiagnosisKind;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;

use crate::document::{Cell, Column, Document, Table, count, money, share};
use crate::human::replay::totals::part_of;
use crate::report::Report;

pub(super) fn add(report: &Report<'_>, transcripts: bool, document: &mut Document) {
    let causes = report.totals.causes();
    if transcripts && !causes.is_empty() {
        document.heading("Explanation: how many missed tokens have a cause, given usage and diagnosis?");
        document.text(sentences(report));
        let table = diagnosed(report);
        if !table.rows.is_empty() {
            document.table(table);
        }
    } else {
        document.text(residual(report).into_iter().collect());
    }
}

fn sentences(report: &Report<'_>) -> Vec<String> {
    let causes = report.totals.causes();
    let is_known = |cause: &Cause| *cause != Cause::Unexplained;
    let all: Money = causes.iter().map(|(_, total)| total.cost).sum();
    let known: Money = causes.iter().filter(|(cause, _)| is_known(cause)).map(|(_, total)| total.cost).sum();
    let requests = |of: &dyn Fn(&Cause) -> bool| -> u64 {
        causes.iter().filter(|(cause, _)| of(cause)).map(|(_, total)| total.requests).sum()
    };
    let misses = match requests(&|_| true) {
        1 => "1 miss".to_owned(),
        number => format!("{} misses", count(number)),
    };
    let explained = format!(
        "A cause is known for {} of {}, {} of their {}.",
        count(requests(&is_known)),
        misses,
        share(part_of(known, all)),
        money(all),
    );
    std::iter::once(explained).chain(residual(report)).collect()
}

/// What the forecast may be off.
fn residual(report: &Report<'_>) -> Option<String> {
    let residual = report.totals.residual()?;
    let (low, high) = INTERVAL_PER_MILLE;
    Some(format!(
        "Misses without a sign add {} to a forecast on average. The input of nine of ten sessions costs between {} less and \
         {} more than forecast.",
        money(residual.expected),
        share(-low as f64 / 1_000.0),
        share(high as f64 / 1_000.0),
    ))
}

/// The provider's own word and ours, for each request with missed tokens.
fn diagnosed(report: &Report<'_>) -> Table {
    let mut pairs: Vec<_> = report.tally.diagnosed.iter().collect();
    pairs.sort_by_key(|(_, (requests, ..))| std::cmp::Reverse(*requests));
    Table::of("diagnosis", &pairs)
        .with(Column::left("Provider's word", "provider"), |((kind, _), _)| Cell::text(word(*kind)))
        .with(Column::left("Cause here", "cause").kept(), |((_, cause), _)| Cell::text(cause.word()))
        .with(Column::right("Requests", "requests"), |(_, (requests, ..))| Cell::Count(*requests))
        .with(Column::right("Tokens", "tokens"), |(_, (_, tokens, _))| Cell::Count(*tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |(_, (.., cost))| Cell::Money(*cost))
        .shown(SHOWN, "pairs")
}

/// Most pairs of words shown to people.
const SHOWN: usize = 10;

/// The provider's word (prompt-caching page, cache diagnostics, 2026-09).
const fn word(kind: DiagnosisKind) -> &'static str {
    match kind {
        DiagnosisKind::SystemChanged => "system_changed",
        DiagnosisKind::ToolsChanged => "tools_changed",
        DiagnosisKind::MessagesChanged => "messages_changed",
        DiagnosisKind::ModelChanged => "model_changed",
        DiagnosisKind::PreviousMessageNotFound => "previous_message_not_found",
        DiagnosisKind::Unavailable => "unavailable",
        DiagnosisKind::Other => "another word",
    }
}
