//! Measures in which errors cannot cancel out, by what a request follows, beside the naive rule.

use forkcast_sim::service::{Fidelity, Step};

use crate::document::{Cell, Column, Document, Table};
use crate::report::Report;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let sums = &report.totals.agreement.sums;
    if sums.steps.is_empty() {
        return;
    }
    let whole = (sums.steps.len() > 1).then(|| ("all", sums.of_sessions()));
    let steps = sums.steps.iter().map(|(step, pair)| (after(*step), *pair));
    let of_both = |(name, [forecast, naive]): (&'static str, [Fidelity; 2])| {
        [(name, "forecast", forecast), ("", "naive rule", naive)]
    };
    let measures: Vec<(&str, &str, Fidelity)> = steps.chain(whole).flat_map(of_both).collect();
    let table = Table::of("fidelity", &measures)
        .with(Column::wrap("Requests after", "step"), |(name, ..)| Cell::text(*name))
        .with(Column::wrap("Predicted by", "rule"), |(_, rule, _)| Cell::text(*rule))
        .with(Column::right("Requests", "requests").optional(), |(.., measure)| Cell::Count(measure.requests))
        .with(Column::right("Verdict", "verdict"), |(.., measure)| Cell::Share(measure.verdict()))
        .with(Column::right("Input cost", "cost_error").kept(), |(.., measure)| Cell::Error(measure.cost_error()))
        .with(Column::right("Errors", "cost_absolute_error").kept(), |(.., measure)| Cell::Share(measure.absolute()))
        .with(Column::right("Misses", "misses").optional(), |(.., measure)| Cell::Count(measure.came))
        .with(Column::right("precision", "precision").kept(), |(.., measure)| Cell::Share(measure.precision()))
        .with(Column::right("recall", "recall").kept(), |(.., measure)| Cell::Share(measure.recall()));
    document.table(table.whole());
    document.text(vec![
        "Input cost: in tokens of plain input, whatever the model costs. Errors: absolute errors of requests, added up, as a \
         part of the recorded cost. Misses: over 3,000 tokens. The naive rule: all that was sent is read within its lifetime by the same model."
            .to_owned(),
    ]);
}

const fn after(step: Step) -> &'static str {
    match step {
        Step::ToolLoop => "results of tools",
        Step::TurnEnd => "the end of a turn",
        Step::Agent => "anything, by agents",
    }
}
