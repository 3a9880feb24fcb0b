//! Fan-outs for people: a table of cells, the best ones, and the basis of the figures.

pub mod answers;

use std::collections::BTreeSet;

use forkcast_scenarios::fanout::trial::unpriced;
use forkcast_scenarios::fanout::{Cell, Spawn, Trial};
use forkcast_sim::agent::spawn::fork::Profile;

use forkcast_sim::pricing::thousands;

use crate::answers as sentences;
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
    document.aside(same(&cells).into_iter().chain(rests_on(rows, price_book, vec![COSTS])).collect());
    let mut table = table::people("rows", &cells, ROWS_SHOWN_MAX);
    table.rows_are = "cells";
    document.table(table);
    document.text(findings(rows));
    document
}

/// The answer in one line: what a single fan-out costs, else what is cheapest, or how the cost grows.
fn title(rows: &[Trial]) -> String {
    match rows {
        [row] => return single(row),
        [fork, spawn] if fork.cell.spawn.is_none() && spawn.cell.spawn.is_some() => return against(fork, spawn),
        _ => {}
    }
    sentences::grid::of(rows).unwrap_or_else(|| range(rows))
}

fn single(row: &Trial) -> String {
    let children = several(u64::from(row.cell.children), if row.cell.spawn.is_none() { "fork" } else { "agent" });
    let Some(cost) = row.outcome.cost else {
        return format!("{children}: {}, no price for the model", several(row.outcome.requests, "request"));
    };
    if row.outcome.requests == 0 {
        return format!("{children}: none was answered");
    }
    let total =
        row.outcome.total_cost.map_or_else(String::new, |total| format!(", {} with their parent", money(total)));
    let uncached = row
        .outcome
        .cost_without_cache
        .map_or_else(String::new, |uncached| format!("; {} without a cache", money(uncached)));
    let verb = if row.cell.children == 1 { "costs" } else { "cost" };
    format!("{children} {verb} {}{total}{uncached}", money(cost))
}

/// Forks beside agents of their own.
fn against(fork: &Trial, spawn: &Trial) -> String {
    let cost = |row: &Trial| row.outcome.total_cost.map_or_else(|| "no price".to_owned(), money);
    format!("Forks cost {}, agents with briefs {}, both with their parent", cost(fork), cost(spawn))
}

/// What the cells cost, if there is nothing else to say.
fn range(rows: &[Trial]) -> String {
    let cells = several(rows.len() as u64, "cell");
    let costs = || rows.iter().filter_map(Trial::ranked_cost);
    match costs().min().zip(costs().max()) {
        Some((least, most)) => format!("{cells}: {} to {} with the parent's requests", money(least), money(most)),
        None => format!("{cells} without a price"),
    }
}

/// The parameters that do not vary.
fn same(cells: &[fanout::Row<'_>]) -> Option<String> {
    let same = table::same(cells);
    let place = if cells.len() == 1 { "In this cell" } else { "In all cells" };
    (!same.is_empty()).then(|| format!("{place}: {}", same.join(", ")))
}

/// What the columns of costs hold.
const COSTS: &str = "Cost: the children. Launching: the parent's message that starts them. With parent: all requests, which \
                     decides the cheapest";

/// The basis of the figures; `costs` say what these are made of.
fn rests_on(rows: &[Trial], price_book: &str, costs: Vec<&str>) -> Vec<String> {
    let rules: BTreeSet<&str> = rows.iter().map(|row| row.cell.rules.name).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let mut lines = vec![
        format!(
            "Cache rules {}, {price_book}",
            rules.join(", ")
        ),
        "Sizes are declared; times to the first byte and speeds are assumptions, because providers do not publish them".to_owned(),
        "Bound: the children cost no less under any launch policy and placement of breakpoints. Equivalents: tokens of plain \
         input at the same cost"
            .to_owned(),
    ];
    lines.splice(1..1, costs.into_iter().map(str::to_owned));
    let spawn = rows.iter().find_map(|row| row.cell.spawn);
    lines.extend(spawn.as_ref().map(spawned));
    if rows.iter().any(|row| row.cell.profile == Profile::Client2026) {
        lines.push(
            "Messages of forks as in the client of 2026: siblings share nothing of the message that forks".to_owned(),
        );
    }
    lines
}

/// What named agents have.
fn spawned(spawn: &Spawn) -> String {
    let own = thousands(spawn.system + spawn.tools);
    let gathered = match (spawn.gathered, spawn.gathering_turns) {
        (0, 0) => String::new(),
        (tokens, turns) => {
            format!("; it gathers {} again in {}", thousands(tokens), several(turns.into(), "more request"))
        }
    };
    format!(
        "Each spawn has tools and a system prompt of its own, {own}, and a brief of {}{gathered}",
        thousands(spawn.brief)
    )
}

/// Limits that were met, cells without answers, and broken assumptions.
fn findings(rows: &[Trial]) -> Vec<String> {
    let mut lines = Vec::new();
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
fn limits(cell: &Cell, rows: &[Trial]) -> String {
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
