//! Runs a cell through the agent runtime.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms};
use forkcast_sim::service::Entry;
use forkcast_sim::simulation;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;

use super::cell::{Cell, Refused};
use super::outcome::Outcome;
use super::setup::setup;

/// Why a cell has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Unplayed {
    /// The cell cannot be run.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The run failed.
    #[error("{0}")]
    Failed(String),
}

/// Plays a cell, billed by `book`.
///
/// # Errors
/// If the cell is invalid or the run failed.
pub fn play(cell: &Cell, book: &Rc<PriceBook>) -> Result<Outcome, Unplayed> {
    cell.check()?;
    let tally = Rc::new(RefCell::new(Tally::default()));
    let mut setup = setup(cell, book);
    let (into, prices) = (Rc::clone(&tally), Rc::clone(book));
    setup.takes_entries = Some(Box::new(move |entry| into.borrow_mut().add(&entry, &prices)));
    let finished = simulation::run(setup).map_err(|failed| Unplayed::Failed(failed.to_string()))?;
    let mut outcome = tally.take().outcome();
    outcome.over_limits = finished.over_limits;
    outcome.unanswered = (u64::from(cell.children) * cell.requests()).saturating_sub(outcome.requests);
    Ok(outcome)
}

/// The sums of a run over all agents except the main one, and its whole cost.
#[derive(Default)]
struct Tally {
    outcome: Outcome,
    began: Option<Instant>,
    ended: Option<Instant>,
    sums: Sums,
    parents: Parents,
}

impl Tally {
    fn add(&mut self, entry: &Entry, book: &PriceBook) {
        let line = &entry.line;
        debug_assert!(line.predicted.is_some() && line.at.is_some(), "a run predicts and times its requests");
        let usage = line.predicted.unwrap_or_default();
        if entry.agent.as_deref() == Some("main") {
            self.outcome.parent_usage += usage;
            self.parents.add(line, &usage, book);
            return;
        }
        self.outcome.usage += usage;
        self.outcome.requests += 1;
        self.sums.add(line, &usage, book);
        self.began = self.began.into_iter().chain(line.at).min();
        self.ended = self.ended.max(entry.ended_at);
    }

    fn outcome(self) -> Outcome {
        let Self { mut outcome, began, ended, sums, parents } = self;
        outcome.makespan = began.zip(ended).map(|(first, last)| last.since(first)).unwrap_or_default();
        sums.fill(&mut outcome);
        outcome.launch_cost = parents.launch;
        outcome.total_cost = outcome.cost.zip(parents.cost).map(|(children, parents)| children + parents);
        outcome
    }
}

/// Costs of the parent; `None` without a price.
#[derive(Default)]
struct Parents {
    cost: Option<Money>,
    /// The output of its first answer, which starts the children.
    launch: Option<Money>,
}

impl Parents {
    fn add(&mut self, line: &Line, usage: &Usage, book: &PriceBook) {
        let Ok(rates) = book.rates(&ModelKey::from(line.model.as_str()), &Terms::of(usage)) else { return };
        self.launch.get_or_insert_with(|| rates.line(Category::Output, usage.output_tokens));
        *self.cost.get_or_insert_default() += rates.bill(usage, &[]).total;
    }
}

/// Costs of the children.
#[derive(Default)]
struct Sums {
    cost: Money,
    without_cache: Money,
    equivalents_millionths: i128,
    is_unpriced: bool,
}

impl Sums {
    fn add(&mut self, line: &Line, usage: &Usage, book: &PriceBook) {
        let model = ModelKey::from(line.model.as_str());
        let Ok(rates) = book.rates(&model, &Terms::of(usage)) else {
            self.is_unpriced = true;
            return;
        };
        self.cost += rates.bill(usage, &[]).total;
        let plain =
            Usage { input_tokens: usage.total_input_tokens(), output_tokens: usage.output_tokens, ..Usage::default() };
        self.without_cache += rates.bill(&plain, &[]).total;
        let input = Usage { output_tokens: 0, ..*usage };
        let unit = rates.per_token(Category::Input);
        let cost = rates.bill(&input, &[]).total.picousd();
        self.equivalents_millionths += cost * 1_000_000 * unit.denominator / unit.numerator.max(1);
    }

    fn fill(self, outcome: &mut Outcome) {
        if !self.is_unpriced {
            outcome.cost = Some(self.cost);
            outcome.cost_without_cache = Some(self.without_cache);
            outcome.equivalents_millionths = Some(self.equivalents_millionths);
        }
    }
}
