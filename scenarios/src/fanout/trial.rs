//! A cell with everything that is said of it: what came out, what the formula says, what no policy goes below.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms};
use forkcast_sim::wire::Usage;

use super::cell::Cell;
use super::closed::{self, Assumption};
use super::outcome::Outcome;
use super::play::{Unplayed, play};
use super::{bound, grid};

/// A cell and what came of it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The parameters.
    pub cell: Cell,
    /// What came out.
    pub outcome: Outcome,
    /// What the formula says of the children's usage, or the assumption that does not hold.
    pub formula: Result<Usage, Assumption>,
    /// The same in millionths of tokens of plain input; nothing where the formula does not hold or nothing has a price.
    pub formula_millionths: Option<i128>,
    /// What no policy goes below.
    pub bound: Option<Money>,
}

impl Trial {
    /// Whether every request of the children was answered.
    pub const fn is_answered(&self) -> bool {
        self.outcome.unanswered == 0
    }
}

/// Models of which rows have no price, in order.
pub fn unpriced(rows: &[Trial]) -> BTreeSet<&str> {
    rows.iter().filter(|row| row.outcome.cost.is_none()).map(|row| &*row.cell.model).collect()
}

/// Plays a cell and holds it against formula and bound.
///
/// # Errors
/// When the cell makes no sense, or its run did not come to its end.
pub fn trial(cell: &Cell, book: &Rc<PriceBook>) -> Result<Trial, Unplayed> {
    let outcome = play(cell, book)?;
    let formula = closed::usage(cell, book);
    Ok(Trial {
        formula_millionths: formula.ok().and_then(|usage| equivalents_millionths(cell, &usage, book)),
        // It is about whole fan-outs: those that lack requests may well cost less.
        bound: bound::lower_bound(cell, book).filter(|_| outcome.unanswered == 0),
        cell: cell.clone(),
        formula,
        outcome,
    })
}

/// Tokens of plain input that cost as much as this input, in millionths, at the prices of the longest request.
fn equivalents_millionths(cell: &Cell, usage: &Usage, book: &PriceBook) -> Option<i128> {
    let terms = Terms { prompt_tokens: cell.longest(), ..Terms::default() };
    let rates = book.rates(&ModelKey::from(&*cell.model), &terms).ok()?;
    let unit = rates.per_token(Category::Input);
    let cost = rates.bill(usage, &[]).total.picousd();
    Some(cost * 1_000_000 * unit.denominator / unit.numerator.max(1))
}

/// Rows that differ in policy alone, launch and breakpoints, by the first row of each set.
pub fn sets(rows: &[Trial]) -> Vec<Vec<usize>> {
    let mut sets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let key = grid::key_without_policy(&row.cell);
        let set = sets.entry(key.clone()).or_default();
        if set.is_empty() {
            order.push(key);
        }
        set.push(at);
    }
    order.into_iter().filter_map(|key| sets.remove(&key)).collect()
}

/// Of each set the row with the least cost; of equal ones the first. A set of which no row is whole and has a price has none.
pub fn best_cost(rows: &[Trial]) -> Vec<usize> {
    best(rows, |row| row.outcome.cost.map(Money::picousd))
}

/// Of each set the row that is done first; of equal ones the first. A set of which no row is whole has none.
pub fn best_makespan(rows: &[Trial]) -> Vec<usize> {
    best(rows, |row| Some(row.outcome.makespan.0.into()))
}

/// What was never answered costs nothing and takes no time, so rows that lack answers are not compared.
fn best(rows: &[Trial], by: impl Fn(&Trial) -> Option<i128>) -> Vec<usize> {
    let measured = |at: usize| Some((by(&rows[at]).filter(|_| rows[at].is_answered())?, at));
    sets(rows).into_iter().filter_map(|set| set.into_iter().filter_map(measured).min()).map(|(_, at)| at).collect()
}
