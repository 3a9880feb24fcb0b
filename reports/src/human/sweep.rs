//! Grids for people: their cheapest cells, and what did not come to its end.

use std::collections::BTreeSet;

use forkcast_scenarios::sweep::{Axis, Cell as GridCell, Plan, Row};
use forkcast_sim::pricing::Money;

use crate::document::{Cell, Column, Document, Table, count, money};
use crate::format::sweep::values;

/// Rows that people see; machines see all.
const ROWS_SHOWN_MAX: usize = 40;

/// The document.
pub fn document(plan: &Plan, rows: &[Row]) -> Document {
    let mut cells: Vec<(&GridCell, &Row)> = plan.cells.iter().zip(rows).collect();
    // What left requests without an answer or has no price stands last; of equal ones the order of the plan holds.
    cells.sort_by_key(|(_, row)| (!row.is_answered(), !row.is_done(), row.cost.map_or(i128::MAX, Money::picousd)));
    let mut document = Document::default();
    document.title(title(plan, rows));
    document.aside(rests_on(plan));
    document.table(table(plan, &cells));
    document.text(findings(plan, &cells));
    document
}

fn title(plan: &Plan, rows: &[Row]) -> String {
    let requests: u64 = rows.iter().map(|row| row.requests).sum();
    let plural = if rows.len() == 1 { "" } else { "s" };
    let (cells, requests) = (count(rows.len() as u64), count(requests));
    format!("Sweep of {}: {cells} cell{plural}, {requests} requests", plan.subject.name())
}

fn rests_on(plan: &Plan) -> Vec<String> {
    let axes: Vec<String> = varying(plan).map(|axis| format!("{} ({})", axis.path, axis.values.len())).collect();
    let axes = if axes.is_empty() { "nothing varies".to_owned() } else { axes.join(" × ") };
    let mut lines = vec![format!("Plan {}: {axes}; cheapest first, all in --format csv or json", plan.plan)];
    let fixed = plan.axes.iter().filter(|axis| axis.values.len() == 1);
    let fixed: Vec<String> = fixed.map(|axis| format!("{} {}", axis.path, axis.values[0])).collect();
    if !fixed.is_empty() {
        lines.push(format!("In all cells: {}", fixed.join(", ")));
    }
    lines
}

fn table(plan: &Plan, cells: &[(&GridCell, &Row)]) -> Table {
    let mut columns = vec![
        Column::wrap("set", "set"),
        Column::right("requests", "requests").optional(),
        Column::right("read", "cache_read_input_tokens").optional(),
        Column::right("written", "cache_creation_input_tokens").optional(),
        Column::right("in full", "input_tokens").optional(),
        Column::right("hit rate", "hit_rate"),
        Column::right("cost", "cost_usd"),
        Column::right("uncached", "cost_without_cache_usd").optional(),
        Column::right("makespan", "makespan_ms"),
    ];
    let lacks_answers = cells.iter().any(|(_, row)| row.unanswered > 0);
    columns.extend(lacks_answers.then_some(Column::right("unanswered", "unanswered_requests")));
    let mut table = Table::new("rows", columns);
    table.rows_are = "cells";
    table.make(ROWS_SHOWN_MAX, cells, |(cell, row)| {
        let mut line = line(plan, cell, row);
        line.extend(lacks_answers.then_some(Cell::Count(row.unanswered)));
        line
    });
    table
}

fn line(plan: &Plan, cell: &GridCell, row: &Row) -> Vec<Cell> {
    let millis = row.makespan_ns / 1_000_000;
    vec![
        Cell::text(setting(plan, cell)),
        Cell::Count(row.requests),
        Cell::Count(row.usage.cache_read_input_tokens),
        Cell::Count(row.usage.cache_creation_input_tokens()),
        Cell::Count(row.usage.input_tokens),
        Cell::Share(row.usage.hit_rate()),
        if row.is_done() { Cell::Money(row.cost) } else { Cell::Missing("broke off") },
        Cell::Money(row.cost_without_cache),
        Cell::text(format!("{}.{} s", millis / 1_000, millis % 1_000 / 100)),
    ]
}

/// Axes with more than one value.
fn varying(plan: &Plan) -> impl Iterator<Item = &Axis> {
    plan.axes.iter().filter(|axis| axis.values.len() > 1)
}

/// What tells a cell from the others: `children 5, launch primed`.
fn setting(plan: &Plan, cell: &GridCell) -> String {
    let told = values(cell).zip(&plan.axes).filter(|(_, axis)| axis.values.len() > 1);
    let set: Vec<String> = told.map(|((path, value), _)| format!("{path} {value}")).collect();
    if set.is_empty() { "as it is".to_owned() } else { set.join(", ") }
}

fn findings(plan: &Plan, cells: &[(&GridCell, &Row)]) -> Vec<String> {
    let mut lines = Vec::new();
    let priced = || cells.iter().filter_map(|(cell, row)| Some((cell, row.cost.filter(|_| row.is_answered())?)));
    if let (Some((least, cheap)), Some((most, dear))) = (priced().next(), priced().next_back())
        && dear > cheap
    {
        lines.push(format!("Cheapest: {}, {}", setting(plan, least), money(cheap)));
        lines.push(format!("Dearest: {}, {}", setting(plan, most), money(dear)));
    }
    let unanswered = cells.iter().filter(|(_, row)| row.unanswered > 0).count();
    if unanswered > 0 {
        let left = cells.iter().map(|(_, row)| row.unanswered).sum();
        lines.push(format!(
            "In {} of {} cells {} requests were never answered: their cost is no bargain, and they stand last",
            count(unanswered as u64),
            count(cells.len() as u64),
            count(left)
        ));
    }
    let models: BTreeSet<&str> = cells.iter().flat_map(|(_, row)| &row.unpriced).map(String::as_str).collect();
    lines.extend(models.into_iter().map(|model| format!("No price for {model}: what it costs is in no figure")));
    let failing = cells.iter().filter(|(_, row)| !row.failures.is_empty()).count();
    if failing > 0 {
        lines.push(format!(
            "In {} of {} cells not everything came out that the scenario expects of its own values",
            count(failing as u64),
            count(cells.len() as u64)
        ));
    }
    lines
}
