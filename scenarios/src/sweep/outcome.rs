//! The result of one cell, in whole numbers: sums of rows are independent of their order.

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::pricing::PriceBook;
use forkcast_sim::time::Duration;
use serde::{Deserialize, Serialize};

use super::plan::{Cell, Plan};
use super::subject::Subject;
use super::{hash, parameter};
use crate::fanout::Outcome;
use crate::format::expect::Ends;
use crate::run::{Options, Run, play};
use crate::{expect, fanout};

/// The result of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellOutcome {
    /// The cell's hash.
    pub cell: String,
    /// How the run ended: a word of the scenario format, or `refused` if it could not start.
    pub ends: String,
    /// Why it did not finish.
    pub message: Option<String>,
    /// Digest of the run; only for scenarios.
    pub digest: Option<String>,
    /// Its figures; those of a fan-out are of the children.
    pub figures: Outcome,
    /// Models without a price, in order; their cost is not in the bill.
    pub unpriced: BTreeSet<String>,
    /// Failed expectations of the scenario. They were written for its own values, so this is not an error here.
    pub failures: Vec<String>,
}

impl CellOutcome {
    /// Whether it ended normally, or as its scenario expects.
    pub fn is_done(&self) -> bool {
        self.message.is_none()
    }

    /// Whether all requests were also answered. Unanswered requests cost nothing, so such cells never count as
    /// cheapest.
    pub fn is_answered(&self) -> bool {
        self.is_done() && self.figures.unanswered == 0
    }

    /// Whether a law was broken, which is a bug.
    pub fn broke_a_law(&self) -> bool {
        self.ends == Ends::LawBroken.word()
    }

    /// The hash of all rows.
    pub(super) fn hash_all(rows: &[Self]) -> String {
        hash(&rows)
    }
}

/// Plays cells in one thread; runs share nothing with those of other threads.
pub struct Player<'a> {
    subject: &'a Subject,
    book: Rc<PriceBook>,
}

impl<'a> Player<'a> {
    /// A player for this plan.
    pub fn of(plan: &'a Plan) -> Self {
        let book = plan.prices.book().unwrap_or_else(|why| unreachable!("checked when the plan was made: {why}"));
        Self { subject: &plan.subject, book: Rc::new(book) }
    }

    /// The result of a cell.
    pub fn outcome(&self, cell: &Cell) -> CellOutcome {
        let row = match self.subject {
            Subject::Fanout { .. } => self.fanout(&cell.set),
            Subject::Scenario { .. } => self.scenario(&cell.set),
        };
        let refused = |why| CellOutcome { ends: "refused".to_owned(), message: Some(why), ..CellOutcome::default() };
        CellOutcome { cell: cell.cell.clone(), ..row.unwrap_or_else(refused) }
    }

    fn fanout(&self, set: &[String]) -> Result<CellOutcome, String> {
        let played =
            fanout::trial::trial(&parameter::cell(set)?, &self.book).map_err(|unplayed| unplayed.to_string())?;
        Ok(CellOutcome {
            ends: Ends::Finished.word().to_owned(),
            unpriced: played.outcome.cost.is_none().then(|| played.cell.model.to_string()).into_iter().collect(),
            figures: played.outcome,
            ..CellOutcome::default()
        })
    }

    fn scenario(&self, set: &[String]) -> Result<CellOutcome, String> {
        let options = Options { set: set.to_vec(), book: Some(Rc::clone(&self.book)), ..Options::default() };
        let run = play(self.subject.scenario(set)?, &options);
        let totals = run.totals();
        Ok(CellOutcome {
            ends: run.ends.word().to_owned(),
            message: message(&run),
            digest: Some(format!("{:032x}", run.digest)),
            figures: Outcome {
                requests: totals.requests,
                usage: totals.usage,
                cost: totals.cost,
                cost_without_cache: totals.cost_without_cache,
                makespan: Duration(run.makespan.0),
                ..Outcome::default()
            },
            unpriced: run.unpriced().into_iter().map(str::to_owned).collect(),
            failures: expect::failures(&run).iter().map(ToString::to_string).collect(),
            ..CellOutcome::default()
        })
    }
}

/// Why a run failed; `None` if it ended as the scenario expects.
fn message(run: &Run) -> Option<String> {
    let is_expected = run.ends != Ends::LawBroken && run.ends == run.scenario.expect.ends;
    (run.ends != Ends::Finished && !is_expected).then(|| run.message.clone().unwrap_or_default())
}
