//! Forks or named agents with their own brief, by turns and context (`economics.md` 3.3).
//!
//! Forks use their best policy: `both`, primed. Named agents start at once, so each writes its own tools and system
//! prompt. The parent's cost of writing their briefs is included; a fork's directive is part of the forking message.
//!
//! With S tools and system, B the brief and H the context that a fork carries, the formula is K* = [(σ − r) S + (o + w
//! − r) B] / [r (H − S − B)], σ = w; it ignores directives and the first fork's writes. If agents gather the history
//! again, there is no formula.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::{Category, ModelKey, Money, Terms};
use forkcast_sim::wire::Ttl;

use super::{Crossing, Curve, Inquiry, Panel, Runs, Unanswered, crossing, thousands};
use crate::fanout::cell::Cell;

/// Default maximum of turns on the curve.
const TURNS_MAX: u32 = 12;

/// Default contexts.
const CONTEXTS: [u64; 4] = [20_000, 50_000, 80_000, 150_000];

/// The panel.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    let turns = asked.turns.clone().unwrap_or_else(|| (1..=TURNS_MAX).collect());
    let base = Cell { placement: Placement::Both, launch: LaunchPolicy::Primed, ..asked.base.clone() };
    let by_turns = |cell: Cell| {
        let cell = move |turns: u32| Cell { turns, ..cell.clone() };
        turns.iter().map(move |turns| (f64::from(*turns), cell(*turns))).collect::<Vec<_>>()
    };
    let spawned = by_turns(Cell { spawn: Some(asked.spawn), ..base.clone() });
    let spawned = with_briefs(runs.curve("spawn with a brief", spawned)?, asked, runs)?;
    let title = format!("{} children", base.children);
    let mut panel = Panel { title, curves: vec![spawned], ..Panel::default() };
    for prefix in asked.prefix.clone().unwrap_or_else(|| CONTEXTS.to_vec()) {
        let cell = Cell { prefix, ..base.clone() };
        let forked = runs.curve(format!("fork, {} of context", thousands(prefix)), by_turns(cell.clone()))?;
        let met = crossing(&forked, &panel.curves[0]);
        panel.crossings.push(Crossing {
            name: format!("fork until, with {} of context", thousands(prefix)),
            at: met.map(|(at, _)| at),
            cost: met.map_or(Money::ZERO, |(_, cost)| cost),
            formula: formula(asked, &cell, runs)?,
        });
        panel.curves.push(forked);
    }
    Ok(vec![panel])
}

/// Adds the parent's cost of the briefs to the curve.
fn with_briefs(curve: Curve, asked: &Inquiry, runs: &Runs<'_>) -> Result<Curve, Unanswered> {
    let model = &asked.base.model;
    let rates = runs.book.rates(&ModelKey::from(&**model), &Terms::default());
    let rates = rates.map_err(|_| Unanswered::NoPrice(model.to_string()))?;
    let briefs = rates.line(Category::Output, asked.spawn.brief * u64::from(asked.base.children));
    let points = curve.points.into_iter().map(|point| super::Point { cost: point.cost + briefs, ..point });
    Ok(Curve { points: points.collect(), ..curve })
}

/// K*.
fn formula(asked: &Inquiry, cell: &Cell, runs: &Runs<'_>) -> Result<Option<f64>, Unanswered> {
    let spawn = asked.spawn;
    let prices = runs.prices(cell)?;
    let write = match cell.ttl {
        Ttl::FiveMinutes => prices.write_5m,
        Ttl::OneHour => prices.write_1h,
    };
    let own = (spawn.system + spawn.tools) as f64;
    let brief = spawn.brief as f64;
    let more = (cell.prefix + cell.tail) as f64 - own - brief;
    if spawn.gathered > 0 || spawn.gathering_turns > 0 || more <= 0.0 {
        return Ok(None);
    }
    let saved = (write - prices.read) * own + (prices.output + write - prices.read) * brief;
    Ok(Some(saved / (prices.read * more)))
}
