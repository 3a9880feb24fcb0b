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
    let mut columns = vec![
        Column::wrap("What to change", "what"),
        Column::right("Saves", "saved_usd").kept(),
        Column::right("Of the bill", "saved_share").kept(),
    ];
    if report.view.details {
        columns.extend([Column::name("Sessions", "sessions").optional(), Column::left("Proof", "what_if").optional()]);
    }
    let mut table = Table::new("actions", columns);
    table.rows = actions.iter().map(|action| row(report, action)).collect();
    document.table(table);
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

fn row(report: &Report<'_>, action: &Action) -> Vec<Cell> {
    let share = report.totals.billed.cost.filter(|bill| *bill > Money::ZERO).map(|bill| part_of(action.saved, bill));
    let mut row = vec![Cell::text(&action.what), Cell::Money(Some(action.saved)), Cell::Share(share)];
    if report.view.details {
        let proof = action.what_if.and_then(|at| report.what_ifs.get(at)).map(|tried| tried.name.as_str());
        row.extend([sessions(report, action), Cell::text(proof.unwrap_or("misses"))]);
    }
    row
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
