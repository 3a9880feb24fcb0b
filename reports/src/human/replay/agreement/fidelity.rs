//! Measures in which errors cannot cancel out, by what a request follows, beside the naive rule.

use forkcast_sim::service::{Fidelity, Step};

use crate::document::{Cell, Column, Document, Table};
use crate::report::Report;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let sums = &report.totals.agreement.sums;
    if sums.steps.is_empty() {
        return;
    }
    let mut table = Table::new(
        "fidelity",
        vec![
            Column::wrap("Requests after", "step"),
            Column::wrap("Predicted by", "rule"),
            Column::right("Requests", "requests").optional(),
            Column::right("Verdict", "verdict"),
            Column::right("Input cost", "cost_error").kept(),
            Column::right("Errors", "cost_absolute_error").kept(),
            Column::right("Misses", "misses").optional(),
            Column::right("precision", "precision").kept(),
            Column::right("recall", "recall").kept(),
        ],
    );
    let whole = (sums.steps.len() > 1).then(|| ("all", sums.of_sessions()));
    let steps = sums.steps.iter().map(|(step, pair)| (after(*step), *pair));
    let pairs: Vec<_> = steps.chain(whole).collect();
    table.rows = pairs
        .iter()
        .flat_map(|(name, [forecast, naive])| [(*name, "forecast", forecast), ("", "naive rule", naive)])
        .map(|(name, rule, measure)| row(name, rule, measure))
        .collect();
    document.table(table);
    document.text(vec![
        "Input cost: in tokens of plain input, whatever the model costs. Errors: absolute errors of requests, added up, as a \
         part of the recorded cost. Misses: over 3,000 tokens. The naive rule: all that was sent is read within its lifetime by the same model."
            .to_owned(),
    ]);
}

fn row(name: &str, rule: &str, measure: &Fidelity) -> Vec<Cell> {
    vec![
        Cell::text(name),
        Cell::text(rule),
        Cell::Count(measure.requests),
        Cell::Share(measure.verdict()),
        Cell::Error(measure.cost_error()),
        Cell::Share(measure.absolute()),
        Cell::Count(measure.came),
        Cell::Share(measure.precision()),
        Cell::Share(measure.recall()),
    ]
}

const fn after(step: Step) -> &'static str {
    match step {
        Step::ToolLoop => "results of tools",
        Step::TurnEnd => "the end of a turn",
        Step::Agent => "anything, by agents",
    }
}
