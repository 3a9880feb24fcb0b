//! Recommended changes, and their savings.

use forkcast_sim::pricing::Money;

use super::bill;
use super::totals::part_of;
use crate::document::{Cell, Column, Document, Table, count};
use crate::report::{Action, Report, actions};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let actions = actions(report);
    if actions.is_empty() {
        return;
    }
    let bill = report.totals.billed.cost.filter(|bill| *bill > Money::ZERO);
    let mut table = Table::of("actions", &actions)
        .with(Column::wrap("What to change", "what"), |action| Cell::text(&action.what))
        .with(Column::right("Saves", "saved_usd").kept(), |action| Cell::Money(Some(action.saved)))
        .with(Column::right("Of the bill", "saved_share").kept(), |action| {
            Cell::Share(bill.map(|bill| part_of(action.saved, bill)))
        });
    if report.view.details {
        let what_if = |action: &Action| action.what_if.and_then(|at| report.what_ifs.get(at));
        table = table
            .with(Column::name("Sessions", "sessions").optional(), |action| sessions(report, action))
            .with(Column::left("Proof", "what_if").optional(), |action| {
                Cell::text(what_if(action).map_or("misses", |tried| tried.name.as_str()))
            });
    }
    document.table(table.whole());
    if actions.len() > 1 {
        document.aside(vec![overlap(report, &actions)]);
    }
}

/// How savings add up, and how they relate to the sum that the bill calls avoidable: only misses are in it, while a what-if
/// changes the whole bill.
fn overlap(report: &Report<'_>, actions: &[Action]) -> String {
    let over = if report.left_out.requests() == 0 { "the whole recording" } else { "the requests that count" };
    let by_what_if = actions.iter().any(|action| action.what_if.is_some()) && bill::has_avoidable(report);
    let beyond = if by_what_if { ". Other models and lifetimes can save more than was avoidable" } else { "" };
    format!("Savings over {over}; they may overlap{beyond}.")
}

/// The session with most of the money, and how many others there are.
fn sessions(report: &Report<'_>, action: &Action) -> Cell {
    if report.sessions.len() < 2 {
        return Cell::Empty;
    }
    let first = action.sessions.first().and_then(|at| report.sessions.get(*at));
    let name = first.map(|session| report.brief(session)).unwrap_or_default();
    Cell::Text(match action.sessions.len().saturating_sub(1) {
        0 => name,
        more => format!("{name} and {} more", count(more as u64)),
    })
}
