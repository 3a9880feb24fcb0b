//! `forkcast.sweep/1`: cells of a grid, in the order of its plan.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use forkcast_scenarios::sweep::{Axis, Cell, Plan, Row};
use forkcast_sim::time::Instant;
use serde::Serialize;

use super::json_text;
use super::number::{Millionths, Millis, Usd, cell};
use super::usage::{self, UsageObject};
use crate::document::csv;

/// Name and version.
pub const SCHEMA: &str = "forkcast.sweep/1";

/// Writes rows of all cells of a plan as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(plan: &Plan, rows: &[Row], target: &mut dyn Write) -> io::Result<()> {
    let object = SweepObject {
        schema: SCHEMA,
        plan: &plan.plan,
        subject: plan.subject.name(),
        axes: &plan.axes,
        rows: plan.cells.iter().zip(rows).map(|(cell, row)| RowObject::of(cell, row)).collect(),
    };
    json_text::pretty(target, &object)?;
    writeln!(target)
}

#[derive(Serialize)]
struct SweepObject<'a> {
    schema: &'static str,
    plan: &'a str,
    subject: String,
    axes: &'a [Axis],
    rows: Vec<RowObject<'a>>,
}

#[derive(Serialize)]
struct RowObject<'a> {
    cell: &'a str,
    set: BTreeMap<&'a str, &'a str>,
    ends: &'a str,
    message: Option<&'a str>,
    digest: Option<&'a str>,
    requests: u64,
    unanswered_requests: u64,
    over_limits: u64,
    usage: UsageObject,
    hit_rate: Option<f64>,
    cost_usd: Option<Usd>,
    cost_without_cache_usd: Option<Usd>,
    makespan_ms: Millis,
    token_equivalents: Option<Millionths>,
    closed_form_tokens: Option<Millionths>,
    assumption: Option<&'a str>,
    cost_lower_bound_usd: Option<Usd>,
    unpriced: &'a BTreeSet<String>,
    failures: &'a [String],
}

impl<'a> RowObject<'a> {
    fn of(cell: &'a Cell, row: &'a Row) -> Self {
        Self {
            cell: &row.cell,
            set: values(cell).collect(),
            ends: &row.ends,
            message: row.message.as_deref(),
            digest: row.digest.as_deref(),
            requests: row.requests,
            unanswered_requests: row.unanswered,
            over_limits: row.over_limits,
            usage: (&row.usage).into(),
            hit_rate: row.usage.hit_rate(),
            cost_usd: row.cost.map(Usd),
            cost_without_cache_usd: row.cost_without_cache.map(Usd),
            makespan_ms: Millis(Instant(row.makespan_ns)),
            token_equivalents: row.equivalents_millionths.map(Millionths),
            closed_form_tokens: row.formula_millionths.map(Millionths),
            assumption: row.assumption.as_deref(),
            cost_lower_bound_usd: row.bound.map(Usd),
            unpriced: &row.unpriced,
            failures: &row.failures,
        }
    }
}

/// Fields and values of a cell, in the order of the axes.
pub fn values(cell: &Cell) -> impl Iterator<Item = (&str, &str)> {
    cell.set.iter().filter_map(|set| set.split_once('='))
}

/// Columns behind those of the axes, before and behind those of usage.
const COUNTS: [&str; 4] = ["ends", "requests", "unanswered_requests", "over_limits"];
const FIGURES: [&str; 11] = [
    "hit_rate",
    "cost_usd",
    "cost_without_cache_usd",
    "makespan_ms",
    "token_equivalents",
    "closed_form_tokens",
    "cost_lower_bound_usd",
    "failures",
    "message",
    "digest",
    "cell",
];

/// Writes rows as comma-separated values: a column for each axis, then the figures.
///
/// # Errors
/// When the target cannot be written.
pub fn table(plan: &Plan, rows: &[Row], target: &mut dyn Write) -> io::Result<()> {
    let axes = plan.axes.iter().map(|axis| axis.path.as_str());
    csv::row(target, axes.chain([&COUNTS[..], &usage::COLUMNS, &FIGURES].concat()))?;
    plan.cells.iter().zip(rows).try_for_each(|(cell, row)| {
        let set = values(cell).map(|(_, value)| value.to_owned());
        csv::row(target, set.chain(figures(row)))
    })
}

fn figures(row: &Row) -> Vec<String> {
    let mut figures =
        vec![row.ends.clone(), row.requests.to_string(), row.unanswered.to_string(), row.over_limits.to_string()];
    figures.extend(usage::cells(Some(&row.usage)));
    figures.extend([
        cell(row.usage.hit_rate()),
        cell(row.cost),
        cell(row.cost_without_cache),
        Millis(Instant(row.makespan_ns)).to_string(),
        cell(row.equivalents_millionths.map(Millionths)),
        cell(row.formula_millionths.map(Millionths)),
        cell(row.bound),
        row.failures.len().to_string(),
        cell(row.message.as_ref()),
        cell(row.digest.as_ref()),
        row.cell.clone(),
    ]);
    figures
}
