//! The result of one cell, in whole numbers: sums of rows are independent of their order.

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::pricing::{Money, PriceBook};
use forkcast_sim::wire::Usage;
use serde::{Deserialize, Serialize};

use super::plan::{Cell, Plan};
use super::subject::Subject;
use super::{hash, parameter};
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
    /// Number of requests; for a fan-out, those of the children, as for all figures.
    pub requests: u64,
    /// For a fan-out: requests that were never answered, whose cost is not in the bill.
    pub unanswered: u64,
    /// For a fan-out: requests refused by a rate limit.
    pub over_limits: u64,
    /// Usage.
    pub usage: Usage,
    /// The bill; `None` if there is no price.
    #[serde(with = "picousd")]
    pub cost: Option<Money>,
    /// The cost of the same tokens without a cache.
    #[serde(with = "picousd")]
    pub cost_without_cache: Option<Money>,
    /// Duration in nanoseconds of the run's virtual clock.
    pub makespan_ns: u64,
    /// For a fan-out: the lower bound for all policies.
    #[serde(with = "picousd")]
    pub bound: Option<Money>,
    /// For a fan-out: its input cost in millionths of plain input tokens.
    #[serde(with = "digits")]
    pub equivalents_millionths: Option<i128>,
    /// For a fan-out: the same by formula, if it applies.
    #[serde(with = "digits")]
    pub formula_millionths: Option<i128>,
    /// For a fan-out: the assumption of the formula that does not hold.
    pub assumption: Option<String>,
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
        self.is_done() && self.unanswered == 0
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
        // A plan's prices were checked when it was made.
        Self { subject: &plan.subject, book: Rc::new(plan.prices.book().unwrap_or_default()) }
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
        let outcome = played.outcome;
        Ok(CellOutcome {
            ends: Ends::Finished.word().to_owned(),
            requests: outcome.requests,
            unanswered: outcome.unanswered,
            over_limits: outcome.over_limits,
            usage: outcome.usage,
            cost: outcome.cost,
            cost_without_cache: outcome.cost_without_cache,
            unpriced: outcome.cost.is_none().then(|| played.cell.model.to_string()).into_iter().collect(),
            makespan_ns: outcome.makespan.0,
            bound: played.bound,
            equivalents_millionths: outcome.equivalents_millionths,
            formula_millionths: played.formula_millionths,
            assumption: played.formula.err().map(|assumption| assumption.to_string()),
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
            requests: totals.requests,
            usage: totals.usage,
            cost: totals.cost,
            cost_without_cache: totals.cost_without_cache,
            makespan_ns: run.makespan.0,
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

/// Numbers as text, because JSON readers may lose precision.
mod digits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(number: &Option<i128>, serializer: S) -> Result<S::Ok, S::Error> {
        number.map(|number| number.to_string()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i128>, D::Error> {
        let text: Option<String> = Deserialize::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}

/// Money in 10⁻¹² USD.
mod picousd {
    use forkcast_sim::pricing::Money;
    use serde::{Deserializer, Serializer};

    use super::digits;

    pub fn serialize<S: Serializer>(money: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
        digits::serialize(&money.map(Money::picousd), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
        Ok(digits::deserialize(deserializer)?.map(Money::from_picousd))
    }
}
