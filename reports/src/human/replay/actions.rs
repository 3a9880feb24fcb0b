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
    document.aside([overlap(report, &actions), beyond(report, &actions)].into_iter().flatten().collect());
}

fn overlap(report: &Report<'_>, actions: &[Action]) -> Option<String> {
    let over = if report.left_out.requests() == 0 { "the whole recording" } else { "the requests that count" };
    (actions.len() > 1).then(|| format!("Savings over {over}; they may overlap."))
}

/// How savings relate to the sum that the bill calls avoidable: only misses are in it.
fn beyond(report: &Report<'_>, actions: &[Action]) -> Option<String> {
    let is_proved = |action: &&Action| action.what_if.is_some();
    let by_what_if = actions.iter().filter(is_proved).count();
    if by_what_if == 0 || !bill::has_avoidable(report) {
        return None;
    }
    let which = if by_what_if == actions.len() { "They" } else { "Another model, lifetime or breakpoint" };
    Some(format!("{which} can save more than was avoidable: the whole bill changes, not only what was missed."))
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
