//! Fan-outs for people: a table of cells, what was best, and what the figures rest on.

pub mod answers;

use std::collections::BTreeSet;

use forkcast_scenarios::fanout::Row;
use forkcast_scenarios::fanout::row::{best_cost, best_makespan, sets, unpriced};
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::time::Duration;

use crate::document::{Cell, Column, Document, Table, count, money};

/// Rows that people see; machines see all.
const ROWS_SHOWN_MAX: usize = 60;

/// The document.
pub fn document(rows: &[Row], price_book: &str, is_partial: bool) -> Document {
    let mut document = Document::default();
    document.title(title(rows));
    if is_partial {
        document.text(vec!["Interrupted: these are the cells that were done.".to_owned()]);
    }
    document.aside(rests_on(rows, price_book));
    document.table(table(rows));
    document.text(findings(rows));
    document
}

fn title(rows: &[Row]) -> String {
    let requests: u64 = rows.iter().map(|row| row.outcome.requests).sum();
    let plural = if rows.len() == 1 { "" } else { "s" };
    format!("Fan-out: {} cell{plural}, {} requests of children", count(rows.len() as u64), count(requests))
}

/// What is the same in all cells, and what the figures rest on.
fn rests_on(rows: &[Row], price_book: &str) -> Vec<String> {
    let rules: BTreeSet<&str> = rows.iter().map(|row| row.cell.rules.name).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let mut lines = vec![
        format!(
            "Cache rules {}, {price_book}; children alone, their parent's own requests are not counted",
            rules.join(", ")
        ),
        "Sizes are declared; times to the first byte and speeds are assumptions, no provider publishes them".to_owned(),
        "Bound: what no policy of launch and breakpoints goes below. Equivalents: tokens of plain input that cost as much"
            .to_owned(),
    ];
    if rows.iter().any(|row| row.cell.profile == Profile::Client2026) {
        lines.push(
            "Messages of forks as the client of 2026 sends them: siblings share nothing of the message that forks"
                .to_owned(),
        );
    }
    lines
}

/// A column that says what varies: its heading, its word, what a row says.
type Parameter = (Column, fn(&Row) -> Cell);

const PARAMETERS: [Parameter; 12] = [
    (Column::left("model", "model"), |row| Cell::text(&*row.cell.model)),
    (Column::right("children", "children"), |row| Cell::Count(row.cell.children.into())),
    (Column::right("prefix", "prefix_tokens"), |row| Cell::Count(row.cell.prefix)),
    (Column::right("tail", "tail_tokens"), |row| Cell::Count(row.cell.tail)),
    (Column::right("directive", "directive_tokens"), |row| Cell::Count(row.cell.directive)),
    (Column::right("turns", "turns"), |row| Cell::Count(row.cell.turns.into())),
    (Column::right("growth", "growth_tokens"), |row| Cell::Count(row.cell.growth)),
    (Column::left("ttl", "ttl"), |row| Cell::text(row.cell.ttl.name())),
    (Column::left("parent", "parent"), |row| Cell::text(if row.cell.is_cold { "cold" } else { "warm" })),
    (Column::left("kind", "kind"), |row| Cell::text(if row.cell.spawn.is_some() { "spawn" } else { "fork" })),
    (Column::left("breakpoints", "breakpoints"), |row| Cell::text(row.cell.placement.name())),
    (Column::left("launch", "launch"), |row| Cell::text(row.cell.launch.name())),
];

/// Columns that are shown though they are the same everywhere.
const ALWAYS: [&str; 3] = ["children", "breakpoints", "launch"];

/// What came out: what decides first, then what explains it, as far as the screen is wide.
const FIGURES: [Column; 11] = [
    Column::right("cost", "cost_usd"),
    Column::right("bound", "cost_lower_bound_usd"),
    Column::right("makespan", "makespan_ms"),
    Column::left("best", "best"),
    Column::right("hit rate", "hit_rate").optional(),
    Column::right("uncached", "cost_without_cache_usd").optional(),
    Column::right("equivalents", "token_equivalents").optional(),
    Column::right("formula", "closed_form_tokens").optional(),
    Column::right("read", "cache_read_input_tokens").optional(),
    Column::right("written", "cache_creation_input_tokens").optional(),
    Column::right("in full", "input_tokens").optional(),
];

fn table(rows: &[Row]) -> Table {
    let varies = |(column, of): &&Parameter| {
        ALWAYS.contains(&column.word) || rows.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
    };
    let parameters: Vec<&Parameter> = PARAMETERS.iter().filter(varies).collect();
    let columns = parameters.iter().map(|(column, _)| *column).chain(FIGURES).collect();
    let mut table = Table::new("rows", columns);
    table.rows_are = "cells";
    let best = Best::of(rows);
    let mut at = 0..;
    table.make(ROWS_SHOWN_MAX, rows, |row| {
        let best = at.next().map_or("", |at| best.word(at, row));
        parameters.iter().map(|(_, of)| of(row)).chain(figures(row, best)).collect()
    });
    table
}

/// Rows that are the best of those that differ from them in policy alone; where there are none, nothing is best.
struct Best {
    cost: BTreeSet<usize>,
    makespan: BTreeSet<usize>,
}

impl Best {
    fn of(rows: &[Row]) -> Self {
        let compared: BTreeSet<usize> = sets(rows).into_iter().filter(|set| set.len() > 1).flatten().collect();
        let among = |best: Vec<usize>| best.into_iter().filter(|at| compared.contains(at)).collect();
        Self { cost: among(best_cost(rows)), makespan: among(best_makespan(rows)) }
    }

    fn word(&self, at: usize, row: &Row) -> &'static str {
        if !row.is_answered() {
            return "unanswered";
        }
        match (self.cost.contains(&at), self.makespan.contains(&at)) {
            (true, true) => "cost, time",
            (true, false) => "cost",
            (false, true) => "time",
            (false, false) => "",
        }
    }
}

fn figures(row: &Row, best: &str) -> [Cell; FIGURES.len()] {
    let (outcome, usage) = (&row.outcome, &row.outcome.usage);
    let formula = match row.formula {
        Ok(_) => tokens(row.formula_millionths),
        Err(_) => Cell::Missing("–"),
    };
    [
        Cell::Money(outcome.cost),
        row.bound.map_or(Cell::Empty, |bound| Cell::Money(Some(bound))),
        Cell::text(seconds(outcome.makespan)),
        Cell::text(best),
        Cell::Share(Some(outcome.hit_rate())),
        Cell::Money(outcome.cost_without_cache),
        tokens(outcome.equivalents_millionths),
        formula,
        Cell::Count(usage.cache_read_input_tokens),
        Cell::Count(usage.cache_creation_input_tokens()),
        Cell::Count(usage.input_tokens),
    ]
}

/// `2.9 s`, rounded.
pub fn seconds(span: Duration) -> String {
    let tenths = (span.0 + 50_000_000) / 100_000_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// To the token; what is less shows in the machine formats.
fn tokens(millionths: Option<i128>) -> Cell {
    let rounded = millionths.map(|millionths| u64::try_from((millionths + 500_000) / 1_000_000).unwrap_or(u64::MAX));
    rounded.map_or(Cell::Missing("no price"), Cell::Count)
}

/// What was best where policies were compared, and which assumptions do not hold.
fn findings(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    if let ([set], [best]) = (&sets(rows)[..], &best_cost(rows)[..])
        && set.len() > 1
    {
        let row = &rows[*best];
        let cost = row.outcome.cost.map_or_else(|| "no price".to_owned(), money);
        lines.push(format!(
            "Cheapest: breakpoints {}, launch {}, {cost}",
            row.cell.placement.name(),
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
    lines.extend(unpriced(rows).into_iter().map(|model| format!("No price for {model}: its costs are not known")));
    let broken: BTreeSet<String> =
        rows.iter().filter_map(|row| row.formula.as_ref().err().map(ToString::to_string)).collect();
    lines.extend(broken.into_iter().map(|why| format!("No formula: {why}")));
    lines
}

/// What the provider took in a minute, and what came of it.
fn limits(cell: &forkcast_scenarios::fanout::Cell, rows: &[Row]) -> String {
    let limit = |limit: Option<u64>, what: &str| limit.map(|limit| format!("{} {what}", count(limit)));
    let limits: Vec<String> =
        limit(cell.itpm, "input tokens that are not read").into_iter().chain(limit(cell.rpm, "requests")).collect();
    let sum = |of: fn(&Row) -> u64| count(rows.iter().map(of).sum());
    format!(
        "Limits: {} a minute, from the fan-out on; {} calls were refused, {} requests never answered",
        limits.join(", "),
        sum(|row| row.outcome.over_limits),
        sum(|row| row.outcome.unanswered)
    )
}
