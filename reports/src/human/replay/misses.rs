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
    let mut largest: BTreeMap<Cause, &Miss> = BTreeMap::new();
    for miss in misses {
        largest.entry(miss.cause).or_insert(miss);
    }
    let example = |cause| largest.get(cause).map_or(Cell::Empty, |miss| Cell::Text(report.spot(&miss.place)));
    Table::of("causes", &report.totals.causes())
        .with(Column::left("Cause", "cause").kept(), |(cause, _)| Cell::text(cause.word()))
        .with(Column::right("Requests", "requests"), |(_, total)| Cell::Count(total.requests))
        .with(Column::right("Tokens", "tokens"), |(_, total)| Cell::Count(total.tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |(_, total)| Cell::Money(bill.map(|_| total.cost)))
        .with(Column::right("Of the bill", "share"), |(_, total)| {
            Cell::Share(bill.map(|bill| part_of(total.cost, bill)))
        })
        .with(Column::name("Largest example", "example"), |(cause, _)| example(cause))
        .whole()
}

fn largest(report: &Report<'_>, misses: &[Miss]) -> Table {
    let at = |miss: &Miss| miss.place.at.and_then(|at| when::moment(at, &report.view.zone));
    Table::of("misses", misses)
        .first(LARGEST_SHOWN, "misses (--format json and --out list all)")
        .with(Column::name("Request", "request"), |miss| Cell::Text(report.spot(&miss.place)))
        .with(Column::left("At", "at").optional(), |miss| at(miss).map_or(Cell::Empty, Cell::Text))
        .with(Column::left("Cause", "cause").kept(), |miss| Cell::text(miss.cause.word()))
        .with(Column::right("Tokens", "tokens"), |miss| Cell::Count(miss.tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |miss| Cell::Money(miss.cost))
        .with(Column::wrap("What changed", "change"), |miss| change(report, miss))
        .whole()
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
