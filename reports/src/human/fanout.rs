//! Fan-outs for people: a table of cells, the best ones, and the basis of the figures.

pub mod answers;

use std::collections::BTreeSet;

use forkcast_scenarios::fanout::Trial;
use forkcast_scenarios::fanout::trial::{best_cost, sets, unpriced};
use forkcast_sim::agent::spawn::fork::Profile;

use crate::document::{Document, count, money, several};
use crate::format::fanout;
use crate::record::table;

/// Most rows shown to people; machines get all.
const ROWS_SHOWN_MAX: usize = 60;

/// The document.
pub fn document(rows: &[Trial], price_book: &str, is_partial: bool) -> Document {
    let mut document = Document::default();
    document.title(title(rows));
    if is_partial {
        document.text(vec!["Interrupted: these are the finished cells.".to_owned()]);
    }
    let cells = fanout::rows(rows);
    document.aside(same(&cells).into_iter().chain(rests_on(rows, price_book)).collect());
    let mut table = table::people("rows", &cells, ROWS_SHOWN_MAX);
    table.rows_are = "cells";
    document.table(table);
    document.text(findings(rows));
    document
}

fn title(rows: &[Trial]) -> String {
    let requests: u64 = rows.iter().map(|row| row.outcome.requests).sum();
    format!("Fan-out: {}, {} requests of children", several(rows.len() as u64, "cell"), count(requests))
}

/// The parameters that do not vary.
fn same(cells: &[fanout::Row<'_>]) -> Option<String> {
    let same = table::same(cells);
    let place = if cells.len() == 1 { "In this cell" } else { "In all cells" };
    (!same.is_empty()).then(|| format!("{place}: {}", same.join(", ")))
}

/// The basis of the figures.
fn rests_on(rows: &[Trial], price_book: &str) -> Vec<String> {
    let rules: BTreeSet<&str> = rows.iter().map(|row| row.cell.rules.name).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let mut lines = vec![
        format!(
            "Cache rules {}, {price_book}",
            rules.join(", ")
        ),
        "Cost: the children. Launching: the parent's message that starts them. With parent: all requests, which decides the \
         cheapest"
            .to_owned(),
        "Sizes are declared; times to the first byte and speeds are assumptions, because providers do not publish them".to_owned(),
        "Bound: no launch policy and placement of breakpoints costs less. Equivalents: tokens of plain input at the same cost"
            .to_owned(),
    ];
    let spawn = rows.iter().find_map(|row| row.cell.spawn);
    lines.extend(spawn.map(|spawn| spawn.to_string()));
    if rows.iter().any(|row| row.cell.profile == Profile::Client2026) {
        lines.push(
            "Messages of forks as in the client of 2026: siblings share nothing of the message that forks".to_owned(),
        );
    }
    lines
}

/// The best cells among compared policies, and broken assumptions.
fn findings(rows: &[Trial]) -> Vec<String> {
    let mut lines = Vec::new();
    if let ([set], [best]) = (&sets(rows)[..], &best_cost(rows)[..])
        && set.len() > 1
    {
        let row = &rows[*best];
        let cost = row.outcome.total_cost.map_or_else(|| "no price".to_owned(), money);
        lines.push(format!(
            "Cheapest: breakpoints {}, launch {}, {cost} with the parent's requests",
            row.cell.marking(),
            row.cell.launch.name()
        ));
    }
    if let Some(row) = rows.first().filter(|row| !row.cell.rate_limits().is_none()) {
        lines.push(limits(&row.cell, rows));
    }
    let lacking = rows.iter().filter(|row| !row.is_answered()).count();
    if lacking > 0 {
        let all = count(rows.len() as u64);
        let lacking = count(lacking as u64);
        lines.push(format!("In {lacking} of {all} cells not every request was answered: such a cell is never best"));
    }
    lines.extend(unpriced(rows).into_iter().map(|model| format!("No price for {model}: its costs are unknown")));
    let broken: BTreeSet<String> =
        rows.iter().filter_map(|row| row.outcome.assumption.map(|why| why.to_string())).collect();
    lines.extend(broken.into_iter().map(|why| format!("No formula: {why}")));
    lines
}

/// The provider's limits per minute, and their effects.
fn limits(cell: &forkcast_scenarios::fanout::Cell, rows: &[Trial]) -> String {
    let limit = |limit: Option<u64>, what: &str| limit.map(|limit| format!("{} {what}", count(limit)));
    let limits: Vec<String> =
        limit(cell.itpm, "uncached input tokens").into_iter().chain(limit(cell.rpm, "requests")).collect();
    let sum = |of: fn(&Trial) -> u64| count(rows.iter().map(of).sum());
    format!(
        "Limits: {} per minute, from the fan-out on; {} calls were refused, {} requests never answered",
        limits.join(", "),
        sum(|row| row.outcome.over_limits),
        sum(|row| row.outcome.unanswered)
    )
}
