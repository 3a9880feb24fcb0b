//! Five minutes or an hour (`economics.md` 3.5): by the number of children that wait once for longer than five minutes,
//! in the middle of their turns. Defaults are those of 63 recorded sub-agents: eleven turns that grow by 5,500 tokens.
//!
//! An hour costs (w₁ − w₅) more for everything written; each wait costs (w₅ − r) for the whole prompt, which must be
//! written again. So an hour pays off from (w₁ − w₅) / (w₅ − r) · W / X waits, where W is written and X is the prompt
//! at the wait. The parent is not in the formula, and its requests live as long as the children's: so a turning point is
//! given with them too.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Ttl;

use super::{Counted, Crossing, Inquiry, Panel, Runs, Unanswered, crossing, thousands};
use crate::fanout::cell::Cell;

/// Defaults.
const CHILDREN: u32 = 10;
const TURNS: u32 = 11;
const CONTEXTS: [u64; 2] = [20_000, 80_000];
const GROWTH: u64 = 5_500;

/// A panel for each context.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    let contexts = asked.prefix.clone().unwrap_or_else(|| CONTEXTS.to_vec());
    let first = |list: &Option<Vec<u32>>| list.as_ref().and_then(|list| list.first().copied());
    let base = Cell {
        children: first(&asked.children).unwrap_or(CHILDREN),
        turns: first(&asked.turns).unwrap_or(TURNS),
        growth: asked.growth.unwrap_or(GROWTH),
        placement: Placement::Both,
        launch: LaunchPolicy::Primed,
        ..asked.base.clone()
    };
    contexts.into_iter().map(|prefix| panel(&Cell { prefix, ..base.clone() }, runs)).collect()
}

fn panel(cell: &Cell, runs: &mut Runs<'_>) -> Result<Panel, Unanswered> {
    let before = runs.rows.len();
    let mut by_waits = |ttl: Ttl, name: &str| {
        let cells = (0..=cell.children).map(|waiting| (f64::from(waiting), Cell { waiting, ttl, ..cell.clone() }));
        runs.curve(name, cells)
    };
    let hour = by_waits(Ttl::OneHour, "1h")?;
    let five = by_waits(Ttl::FiveMinutes, "5m")?;
    let met = crossing(&five, &hour);
    let (of_hour, of_five) = runs.rows[before..].split_at(hour.points.len());
    let whole = [(&five, of_five), (&hour, of_hour)].map(|(curve, rows)| curve.counting(Counted::WithParent, rows));
    let [five_with_parent, hour_with_parent] = whole;
    let written = runs.rows[before].outcome.usage.cache_creation_input_tokens();
    let crossing = Crossing {
        name: "5m up to this many waiting children".to_owned(),
        at: met.map(|(at, _)| at),
        cost: met.map_or(Money::ZERO, |(_, cost)| cost),
        with_parent: crossing(&five_with_parent?, &hour_with_parent?).map(|(at, _)| at),
        formula: Some(formula(cell, written, runs)?),
    };
    let title = format!("{} of context, {} children of {} turns", thousands(cell.prefix), cell.children, cell.turns);
    Ok(Panel { title, curves: vec![five, hour], crossings: vec![crossing] })
}

fn formula(cell: &Cell, written: u64, runs: &Runs<'_>) -> Result<f64, Unanswered> {
    let prices = runs.prices(cell)?;
    let first = cell.prefix + cell.tail + cell.directive;
    let prompt = first + cell.growth * (cell.waits_after() - 1);
    let part = (prices.write_1h - prices.write_5m) / (prices.write_5m - prices.read);
    Ok(part * written as f64 / prompt as f64)
}
