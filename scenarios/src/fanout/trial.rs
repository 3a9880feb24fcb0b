//! A cell with its result, the formula's prediction and the lower bound.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms};
use forkcast_sim::wire::Usage;

use super::cell::Cell;
use super::options::Options;
use super::outcome::Outcome;
use super::play::{Unplayed, play};
use super::{bound, closed};

/// A cell and its results.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The parameters.
    pub cell: Cell,
    /// The result.
    pub outcome: Outcome,
}

impl Trial {
    /// Whether every request of the children was answered.
    pub const fn is_answered(&self) -> bool {
        self.outcome.unanswered == 0
    }

    /// The cost by which every ranking, title and figure of a grid compares: that of all requests, the parent's too,
    /// which obey the same placement. `None` without a price, or if requests are unanswered.
    pub fn ranked_cost(&self) -> Option<Money> {
        self.outcome.total_cost.filter(|_| self.is_answered())
    }
}

/// Models without a price, in order.
pub fn unpriced(rows: &[Trial]) -> BTreeSet<&str> {
    rows.iter().filter(|row| row.outcome.cost.is_none()).map(|row| &*row.cell.model).collect()
}

/// Plays a cell and compares it with formula and bound.
///
/// # Errors
/// If the cell is invalid or its run failed.
///
/// ```
/// use std::rc::Rc;
///
/// use forkcast_scenarios::fanout::{Cell, trial::trial};
/// use forkcast_sim::pricing::PriceBook;
///
/// let trial = trial(&Cell::default(), &Rc::new(PriceBook::built_in()))?;
/// // The formula gives what the run of the agents gives.
/// assert_eq!(trial.outcome.formula_millionths, trial.outcome.equivalents_millionths);
/// # Ok::<(), forkcast_scenarios::fanout::play::Unplayed>(())
/// ```
pub fn trial(cell: &Cell, book: &Rc<PriceBook>) -> Result<Trial, Unplayed> {
    let mut outcome = play(cell, book)?;
    match closed::usage(cell, book) {
        Ok(usage) => outcome.formula_millionths = equivalents_millionths(cell, &usage, book),
        Err(assumption) => outcome.assumption = Some(assumption),
    }
    // The bound is that of whole fan-outs; those with unanswered requests may cost less.
    outcome.bound = bound::lower_bound(cell, book).filter(|_| outcome.unanswered == 0);
    Ok(Trial { cell: cell.clone(), outcome })
}

/// The cost of this input in millionths of plain input tokens, at the prices of the longest request.
fn equivalents_millionths(cell: &Cell, usage: &Usage, book: &PriceBook) -> Option<i128> {
    let terms = Terms { prompt_tokens: cell.longest(), ..Terms::default() };
    let rates = book.rates(&ModelKey::from(&*cell.model), &terms).ok()?;
    let unit = rates.per_token(Category::Input);
    let cost = rates.bill(usage, &[]).total.picousd();
    Some(cost * 1_000_000 * unit.denominator / unit.numerator.max(1))
}

/// Groups of rows that differ only in policy (launch and breakpoints), ordered by their first rows.
pub fn sets(rows: &[Trial]) -> Vec<Vec<usize>> {
    sets_by(rows, Cell::without_policy)
}

/// Groups of rows whose cells are equal after `of`, ordered by their first rows.
fn sets_by(rows: &[Trial], of: impl Fn(&Cell) -> Cell) -> Vec<Vec<usize>> {
    let mut sets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let key = format!("{:?}", of(&row.cell));
        let set = sets.entry(key.clone()).or_default();
        if set.is_empty() {
            order.push(key);
        }
        set.push(at);
    }
    order.into_iter().filter_map(|key| sets.remove(&key)).collect()
}

/// The cheapest row of each set with its parent's requests, which obey the same placement; of equal ones the fastest, and
/// then the first. A set without a complete, priced row has none.
pub fn best_cost(rows: &[Trial]) -> Vec<usize> {
    cheapest(rows, sets(rows))
}

/// The cheapest row of each set of those that differ in options alone; otherwise as [`best_cost`].
pub fn best_option(rows: &[Trial], options: Options) -> Vec<usize> {
    cheapest(rows, sets_by(rows, |cell| options.without(cell)))
}

fn cheapest(rows: &[Trial], sets: Vec<Vec<usize>>) -> Vec<usize> {
    best(rows, sets, |row| Some((row.ranked_cost()?.picousd(), row.outcome.makespan)))
}

/// The fastest row of each set; the first one if equal. A set without a complete row has none.
pub fn best_makespan(rows: &[Trial]) -> Vec<usize> {
    best(rows, sets(rows), |row| Some(row.outcome.makespan))
}

/// Unanswered requests cost nothing and take no time, so incomplete rows are not compared.
fn best<K: Ord>(rows: &[Trial], sets: Vec<Vec<usize>>, by: impl Fn(&Trial) -> Option<K>) -> Vec<usize> {
    let measured = |at: usize| Some((by(&rows[at]).filter(|_| rows[at].is_answered())?, at));
    sets.into_iter().filter_map(|set| set.into_iter().filter_map(measured).min()).map(|(_, at)| at).collect()
}
