//! `forkcast.fanout/1`: cells of a fan-out.

use std::collections::BTreeSet;
use std::io::{self, Write};

use forkcast_scenarios::fanout::Row;
use forkcast_scenarios::fanout::breakeven::{Answer, Crossing, Curve, Panel, Point};
use forkcast_scenarios::fanout::row::{best_cost, best_makespan, unpriced};
use forkcast_sim::time::Instant;
use serde::Serialize;

use super::json_text;
use super::number::{Millionths, Millis, Usd, cell};
use super::usage::{self, UsageObject};
use crate::document::csv;

/// Name and version.
pub const SCHEMA: &str = "forkcast.fanout/1";

/// Writes rows as one JSON object, with the answers that they were made for.
///
/// # Errors
/// When the target cannot be written.
pub fn write(
    rows: &[Row],
    answers: &[Answer],
    price_book: &str,
    is_partial: bool,
    target: &mut dyn Write,
) -> io::Result<()> {
    let object = FanoutObject {
        schema: SCHEMA,
        price_book,
        is_partial,
        rows: rows.iter().map(RowObject::of).collect(),
        best_cost: best_cost(rows),
        best_makespan: best_makespan(rows),
        unpriced: unpriced(rows),
        answers: answers.iter().map(AnswerObject::of).collect(),
    };
    json_text::pretty(target, &object)?;
    writeln!(target)
}

#[derive(Serialize)]
struct FanoutObject<'a> {
    schema: &'static str,
    price_book: &'a str,
    is_partial: bool,
    rows: Vec<RowObject<'a>>,
    best_cost: Vec<usize>,
    best_makespan: Vec<usize>,
    unpriced: BTreeSet<&'a str>,
    answers: Vec<AnswerObject<'a>>,
}

#[derive(Serialize)]
struct AnswerObject<'a> {
    question: &'static str,
    panels: Vec<PanelObject<'a>>,
}

#[derive(Serialize)]
struct PanelObject<'a> {
    title: &'a str,
    curves: Vec<CurveObject<'a>>,
    crossings: Vec<CrossingObject<'a>>,
}

#[derive(Serialize)]
struct CurveObject<'a> {
    name: &'a str,
    is_bound: bool,
    points: Vec<PointObject<'a>>,
}

#[derive(Serialize)]
struct PointObject<'a> {
    at: f64,
    cost_usd: Usd,
    label: &'a str,
}

#[derive(Serialize)]
struct CrossingObject<'a> {
    name: &'a str,
    at: Option<f64>,
    formula: Option<f64>,
    cost_usd: Option<Usd>,
}

impl<'a> AnswerObject<'a> {
    fn of(answer: &'a Answer) -> Self {
        Self { question: answer.question.word(), panels: answer.panels.iter().map(PanelObject::of).collect() }
    }
}

impl<'a> PanelObject<'a> {
    fn of(panel: &'a Panel) -> Self {
        let point = |point: &'a Point| PointObject { at: point.at, cost_usd: Usd(point.cost), label: &point.label };
        let curve = |curve: &'a Curve| CurveObject {
            name: &curve.name,
            is_bound: curve.is_bound,
            points: curve.points.iter().map(point).collect(),
        };
        let crossing = |crossing: &'a Crossing| CrossingObject {
            name: &crossing.name,
            at: crossing.at,
            formula: crossing.formula,
            cost_usd: crossing.at.map(|_| Usd(crossing.cost)),
        };
        Self {
            title: &panel.title,
            curves: panel.curves.iter().map(curve).collect(),
            crossings: panel.crossings.iter().map(crossing).collect(),
        }
    }
}

#[derive(Serialize)]
struct RowObject<'a> {
    children: u32,
    prefix_tokens: u64,
    tail_tokens: u64,
    directive_tokens: u64,
    turns: u32,
    growth_tokens: u64,
    output_tokens_per_turn: u64,
    model: &'a str,
    ttl: &'static str,
    parent: &'static str,
    launch: String,
    breakpoints: &'static str,
    profile: &'static str,
    cache: &'static str,
    ablations: Vec<&'static str>,
    spawn: Option<SpawnObject>,
    itpm: Option<u64>,
    rpm: Option<u64>,
    waiting: u32,
    requests: u64,
    unanswered_requests: u64,
    over_limits: u64,
    usage: UsageObject,
    cost_usd: Option<Usd>,
    hit_rate: f64,
    parent_usage: UsageObject,
    makespan_ms: Millis,
    cost_without_cache_usd: Option<Usd>,
    token_equivalents: Option<Millionths>,
    closed_form_tokens: Option<Millionths>,
    assumption: Option<String>,
    cost_lower_bound_usd: Option<Usd>,
}

#[derive(Serialize)]
struct SpawnObject {
    system_tokens: u64,
    tools_tokens: u64,
    brief_tokens: u64,
    gathered_tokens: u64,
    gathering_turns: u32,
}

impl<'a> RowObject<'a> {
    fn of(row: &'a Row) -> Self {
        let (cell, outcome) = (&row.cell, &row.outcome);
        Self {
            children: cell.children,
            prefix_tokens: cell.prefix,
            tail_tokens: cell.tail,
            directive_tokens: cell.directive,
            turns: cell.turns,
            growth_tokens: cell.growth,
            output_tokens_per_turn: cell.output,
            model: &cell.model,
            ttl: cell.ttl.name(),
            parent: if cell.is_cold { "cold" } else { "warm" },
            launch: cell.launch.name(),
            breakpoints: cell.placement.name(),
            profile: cell.profile.name(),
            cache: cell.rules.name,
            ablations: cell.ablations.iter().map(|ablation| ablation.name()).collect(),
            spawn: cell.spawn.map(|spawn| SpawnObject {
                system_tokens: spawn.system,
                tools_tokens: spawn.tools,
                brief_tokens: spawn.brief,
                gathered_tokens: spawn.gathered,
                gathering_turns: spawn.gathering_turns,
            }),
            itpm: cell.itpm,
            rpm: cell.rpm,
            waiting: cell.waiting,
            requests: outcome.requests,
            unanswered_requests: outcome.unanswered,
            over_limits: outcome.over_limits,
            usage: (&outcome.usage).into(),
            cost_usd: outcome.cost.map(Usd),
            hit_rate: outcome.hit_rate(),
            parent_usage: (&outcome.parent_usage).into(),
            makespan_ms: Millis(Instant(outcome.makespan.0)),
            cost_without_cache_usd: outcome.cost_without_cache.map(Usd),
            token_equivalents: outcome.equivalents_millionths.map(Millionths),
            closed_form_tokens: row.formula_millionths.map(Millionths),
            assumption: row.formula.as_ref().err().map(ToString::to_string),
            cost_lower_bound_usd: row.bound.map(Usd),
        }
    }
}

/// Columns of the table of rows, before and behind those of usage.
const PARAMETERS: [&str; 20] = [
    "children",
    "prefix_tokens",
    "tail_tokens",
    "directive_tokens",
    "turns",
    "growth_tokens",
    "model",
    "ttl",
    "parent",
    "launch",
    "breakpoints",
    "profile",
    "cache",
    "kind",
    "itpm",
    "rpm",
    "waiting",
    "requests",
    "unanswered_requests",
    "over_limits",
];
const FIGURES: [&str; 7] = [
    "cost_usd",
    "cost_without_cache_usd",
    "hit_rate",
    "makespan_ms",
    "token_equivalents",
    "closed_form_tokens",
    "cost_lower_bound_usd",
];

/// Writes rows as comma-separated values with their columns in the first line.
///
/// # Errors
/// When the target cannot be written.
pub fn table(rows: &[Row], target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, [&PARAMETERS[..], &usage::COLUMNS, &FIGURES].concat())?;
    rows.iter().try_for_each(|row| {
        let usage = usage::cells(Some(&row.outcome.usage));
        csv::row(target, parameters(row).into_iter().chain(usage).chain(figures(row)))
    })
}

fn parameters(row: &Row) -> [String; PARAMETERS.len()] {
    let (object, is_spawn) = (RowObject::of(row), row.cell.spawn.is_some());
    [
        object.children.to_string(),
        object.prefix_tokens.to_string(),
        object.tail_tokens.to_string(),
        object.directive_tokens.to_string(),
        object.turns.to_string(),
        object.growth_tokens.to_string(),
        object.model.to_owned(),
        object.ttl.to_owned(),
        object.parent.to_owned(),
        object.launch,
        object.breakpoints.to_owned(),
        object.profile.to_owned(),
        object.cache.to_owned(),
        if is_spawn { "spawn" } else { "fork" }.to_owned(),
        cell(object.itpm),
        cell(object.rpm),
        object.waiting.to_string(),
        object.requests.to_string(),
        object.unanswered_requests.to_string(),
        object.over_limits.to_string(),
    ]
}

fn figures(row: &Row) -> [String; FIGURES.len()] {
    let outcome = &row.outcome;
    [
        cell(outcome.cost),
        cell(outcome.cost_without_cache),
        outcome.hit_rate().to_string(),
        Millis(Instant(outcome.makespan.0)).to_string(),
        cell(outcome.equivalents_millionths.map(Millionths)),
        cell(row.formula_millionths.map(Millionths)),
        cell(row.bound),
    ]
}
