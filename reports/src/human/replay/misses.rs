//! Why tokens were not read: by cause, and the largest misses one by one.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::Evidence;

use super::totals::part_of;
use crate::document::{Cell, Column, Document, Table, span};
use crate::human::when;
use crate::report::{Miss, Report};

/// Most misses listed one by one.
const LARGEST_SHOWN: usize = 8;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    if report.totals.ledger.causes.is_empty() {
        return;
    }
    let misses = &report.misses;
    document.heading("Why tokens were not read");
    document.table(causes(report, misses));
    crate::human::list::hint(document);
    document.heading("The largest misses");
    document.table(largest(report, misses));
}

fn causes(report: &Report<'_>, misses: &[Miss]) -> Table {
    let bill = report.totals.billed.cost;
    let mut table = Table::new(
        "causes",
        vec![
            Column::left("Cause", "cause").kept(),
            Column::right("Requests", "requests"),
            Column::right("Tokens", "tokens"),
            Column::right("Cost", "cost_usd").kept(),
            Column::right("Of the bill", "share"),
            Column::name("Largest example", "example"),
        ],
    );
    let mut largest: BTreeMap<Cause, &Miss> = BTreeMap::new();
    for miss in misses {
        largest.entry(miss.cause).or_insert(miss);
    }
    for (cause, total) in report.totals.causes() {
        table.rows.push(vec![
            Cell::text(cause.word()),
            Cell::Count(total.requests),
            Cell::Count(total.tokens),
            Cell::Money(bill.map(|_| total.cost)),
            Cell::Share(bill.map(|bill| part_of(total.cost, bill))),
            largest.get(&cause).map_or(Cell::Empty, |miss| Cell::Text(report.spot(&miss.place))),
        ]);
    }
    table
}

fn largest(report: &Report<'_>, misses: &[Miss]) -> Table {
    let mut table = Table::new(
        "misses",
        vec![
            Column::name("Request", "request"),
            Column::left("At", "at").optional(),
            Column::left("Cause", "cause").kept(),
            Column::right("Tokens", "tokens"),
            Column::right("Cost", "cost_usd").kept(),
            Column::wrap("What changed", "change"),
        ],
    );
    table.make(LARGEST_SHOWN, misses, |miss| row(report, miss));
    table.rows_are = "misses (--format json and --out list all)";
    table
}

fn row(report: &Report<'_>, miss: &Miss) -> Vec<Cell> {
    let at = miss.place.at.and_then(|at| when::moment(at, &report.view.zone));
    vec![
        Cell::Text(report.spot(&miss.place)),
        at.map_or(Cell::Empty, Cell::Text),
        Cell::text(miss.cause.word()),
        Cell::Count(miss.tokens),
        Cell::Money(miss.cost),
        change(report, miss),
    ]
}

/// Name and place of what changed: `system[1], text (date)`.
fn change(report: &Report<'_>, miss: &Miss) -> Cell {
    let Some(found) = &miss.difference else {
        return miss.evidence.as_ref().map_or(Cell::Empty, |shown| sign(miss, shown));
    };
    let name = report.names.thing(&found.name);
    let varying = found.volatile.map(|volatile| format!(", a varying {}", volatile.word())).unwrap_or_default();
    let place = if found.path.is_empty() || name.contains(&found.path) || miss.cause == Cause::ModelChanged {
        String::new()
    } else {
        format!(" at {}", found.path)
    };
    Cell::Text(format!("{name}{place}{varying}"))
}

/// The evidence of the transcript, with its line if that is not the request's own.
fn sign(miss: &Miss, shown: &Evidence) -> Cell {
    let own = shown.line as usize == miss.place.line && shown.file == miss.place.file;
    let pause = miss.pause.filter(|_| miss.cause == Cause::Expired);
    let pause = pause.map_or_else(String::new, |pause| format!(", after {}", span(pause.as_millis())));
    let line = if own { String::new() } else { format!(" (line {})", shown.line) };
    Cell::Text(format!("{}{line}{pause}", shown.shows))
}
