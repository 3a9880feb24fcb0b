//! Grids for people: their cheapest cells, and unfinished ones.

use std::collections::BTreeSet;

use forkcast_scenarios::sweep::{Axis, CellOutcome, Plan};
use forkcast_sim::pricing::Money;

use crate::document::{Cell, Column, Document, Table, count, money};
use crate::format::sweep::{self, Row};
use crate::record::table;

/// Most rows shown to people; machines get all.
const ROWS_SHOWN_MAX: usize = 40;

/// The document.
pub fn document(plan: &Plan, rows: &[CellOutcome]) -> Document {
    let mut cells: Vec<Row<'_>> = sweep::rows(plan, rows).collect();
    // Cells with unanswered requests or without a price come last; equal ones remain in the order of the plan.
    cells.sort_by_key(|Row { outcome, .. }| {
        (!outcome.is_answered(), !outcome.is_done(), outcome.figures.cost.map_or(i128::MAX, Money::picousd))
    });
    let mut document = Document::default();
    document.title(title(plan, rows));
    document.aside(rests_on(plan));
    document.table(table(&cells));
    document.text(findings(&cells));
    document
}

fn title(plan: &Plan, rows: &[CellOutcome]) -> String {
    let requests: u64 = rows.iter().map(|row| row.figures.requests).sum();
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

fn table(rows: &[Row<'_>]) -> Table {
    let mut table = table::people("rows", rows, ROWS_SHOWN_MAX);
    table.rows_are = "cells";
    table.columns.insert(0, Column::wrap("set", "set"));
    for (cells, row) in table.rows.iter_mut().zip(rows) {
        let broke_off = if row.outcome.is_done() { "" } else { " (broke off)" };
        cells.insert(0, Cell::text(format!("{}{broke_off}", row.setting())));
    }
    table
}

/// Axes with more than one value.
fn varying(plan: &Plan) -> impl Iterator<Item = &Axis> {
    plan.axes.iter().filter(|axis| axis.values.len() > 1)
}

fn findings(cells: &[Row<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let priced =
        || cells.iter().filter_map(|row| Some((row, row.outcome.figures.cost.filter(|_| row.outcome.is_answered())?)));
    if let (Some((least, cheap)), Some((most, dear))) = (priced().next(), priced().next_back())
        && dear > cheap
    {
        lines.push(format!("Cheapest: {}, {}", least.setting(), money(cheap)));
        lines.push(format!("Dearest: {}, {}", most.setting(), money(dear)));
    }
    let unanswered = cells.iter().filter(|row| row.outcome.figures.unanswered > 0).count();
    if unanswered > 0 {
        let left = cells.iter().map(|row| row.outcome.figures.unanswered).sum();
        lines.push(format!(
            "In {} of {} cells {} requests were never answered: their costs are incomplete, and they come last",
            count(unanswered as u64),
            count(cells.len() as u64),
            count(left)
        ));
    }
    let models: BTreeSet<&str> = cells.iter().flat_map(|row| &row.outcome.unpriced).map(String::as_str).collect();
    lines.extend(models.into_iter().map(|model| format!("No price for {model}: its cost is in no figure")));
    let failing = cells.iter().filter(|row| !row.outcome.failures.is_empty()).count();
    if failing > 0 {
        lines.push(format!(
            "In {} of {} cells the scenario's expectations about its own values failed",
            count(failing as u64),
            count(cells.len() as u64)
        ));
    }
    lines
}
