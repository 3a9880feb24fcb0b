//! Forks or named agents with their own brief, by turns and context (`economics.md` 3.3).
//!
//! Forks use their best policy: `both`, primed. Named agents start like them, one first, or all at once as clients do; then
//! each writes its own tools and system prompt. The words that start the children are in every cost: the forking message,
//! or the briefs.
//!
//! With N children, S tools and system, B the brief, H the context that a fork carries and M the forking message, the
//! formula is K* = [(σ − r) S + (o + w − r) B − o M / N] / [r (H − S − B)]. σ is w if all start at once, and
//! [w + (N − 1) r] / N if one is first. It ignores directives and the first fork's writes. If agents gather the history
//! again, or the parent is cold, there is no formula. The parent's other requests are not in it, and differ: they carry
//! the words that started the children. So a turning point is given with them too.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Ttl;

use super::{Counted, Crossing, Curve, Inquiry, Panel, Runs, Unanswered, children, crossing, thousands};
use crate::fanout::cell::Cell;

/// Default maximum of turns on the curve.
const TURNS_MAX: u32 = 12;

/// Default contexts.
const CONTEXTS: [u64; 4] = [20_000, 50_000, 80_000, 150_000];

/// How named agents start, and the word of their curve.
const STARTS: [(LaunchPolicy, &str); 2] = [(LaunchPolicy::Primed, "one first"), (LaunchPolicy::Burst, "all at once")];

/// A panel for each way in which named agents start; the same forks in both.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    let mut turns = asked.turns.clone().unwrap_or_else(|| (1..=TURNS_MAX).collect());
    // Two points of each curve show where they meet.
    if let [only] = turns[..] {
        turns = if only == 1 { vec![1, 2] } else { vec![1, only] };
    }
    let contexts = asked.prefix.clone().unwrap_or_else(|| CONTEXTS.to_vec());
    let base = Cell { placement: Placement::Both, launch: LaunchPolicy::Primed, ..asked.base.clone() };
    let mut by_turns = |name: String, cell: Cell| {
        let cell = move |turns: u32| Cell { turns, ..cell.clone() };
        Started::new(runs, name, turns.iter().map(|turns| (f64::from(*turns), cell(*turns))))
    };
    let fork = |prefix: &u64| {
        let cell = Cell { prefix: *prefix, ..base.clone() };
        let name = format!("fork, {} of context", thousands(*prefix));
        Ok((cell.clone(), by_turns(name, cell)?))
    };
    let forks: Vec<(Cell, Started)> = contexts.iter().map(fork).collect::<Result<_, Unanswered>>()?;
    // The parent of named agents has the same context, though they cost the same with any.
    let spawn = |(launch, _): &(LaunchPolicy, &str)| {
        let cell = |prefix: &u64| Cell { spawn: Some(asked.spawn), launch: *launch, prefix: *prefix, ..base.clone() };
        let spawned = contexts.iter().map(|prefix| by_turns("spawn with a brief".to_owned(), cell(prefix)));
        spawned.collect::<Result<Vec<Started>, Unanswered>>()
    };
    let spawned = STARTS.iter().map(spawn).collect::<Result<Vec<_>, Unanswered>>()?;
    let panels = STARTS.iter().zip(spawned).map(|((launch, word), spawned)| {
        let crossing = |((cell, forked), spawned): (&(Cell, Started), &Started)| {
            let met = crossing(&forked.alone, &spawned.alone);
            Ok(Crossing {
                name: format!("fork until, with {} of context", thousands(cell.prefix)),
                at: met.map(|(at, _)| at),
                cost: met.map_or(Money::ZERO, |(_, cost)| cost),
                with_parent: crossing(&forked.whole, &spawned.whole).map(|(at, _)| at),
                formula: formula(asked, cell, *launch, runs)?,
            })
        };
        let curves = spawned.iter().take(1).chain(forks.iter().map(|(_, forked)| forked));
        Ok(Panel {
            title: format!("{} children of a {}; spawns {word}", base.children, children::title(base.is_cold)),
            crossings: forks.iter().zip(&spawned).map(crossing).collect::<Result<_, Unanswered>>()?,
            curves: curves.map(|started| started.alone.clone()).collect(),
        })
    });
    panels.collect()
}

/// The costs of children, along their turns.
struct Started {
    /// With the words that start them.
    alone: Curve,
    /// The whole run, with the parent's other requests.
    whole: Curve,
}

impl Started {
    fn new(
        runs: &mut Runs<'_>,
        name: String,
        cells: impl IntoIterator<Item = (f64, Cell)>,
    ) -> Result<Self, Unanswered> {
        let from = runs.rows.len();
        let alone = runs.curve(name, cells)?;
        Ok(Self { whole: alone.counting(Counted::WithParent, &runs.rows[from..])?, alone })
    }
}

/// K*.
fn formula(asked: &Inquiry, cell: &Cell, launch: LaunchPolicy, runs: &Runs<'_>) -> Result<Option<f64>, Unanswered> {
    let spawn = asked.spawn;
    let prices = runs.prices(cell)?;
    let write = match cell.ttl {
        Ttl::FiveMinutes => prices.write_5m,
        Ttl::OneHour => prices.write_1h,
    };
    let children = f64::from(cell.children);
    let own = (spawn.system + spawn.tools) as f64;
    let brief = spawn.brief as f64;
    let more = (cell.prefix + cell.tail) as f64 - own - brief;
    if spawn.gathered > 0 || spawn.gathering_turns > 0 || cell.is_cold || more <= 0.0 {
        return Ok(None);
    }
    let first = match launch {
        LaunchPolicy::Primed => (write + (children - 1.0) * prices.read) / children,
        _ => write,
    };
    let words = prices.output * cell.message() as f64 / children;
    let saved = (first - prices.read) * own + (prices.output + write - prices.read) * brief - words;
    Ok(Some(saved / (prices.read * more)))
}
