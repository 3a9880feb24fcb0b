//! One request: usage, bill, perfect bill, and the cost of each cause.

use crate::diagnosis::{Cause, Explanation};
use crate::pricing::{Bill, Category, FeeLine, Money, Rates};
use crate::time::Instant;
use crate::wire::{ChainId, Usage};

/// The tokens of one cause, and what they cost above the read price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseCost {
    /// Why they were missed.
    pub cause: Cause,
    /// Number of tokens.
    pub tokens: u64,
    /// Cost above the read price; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// The money of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// The bill; `None` for a model without a price.
    pub bill: Option<Bill>,
    /// The bill of the same request with every missed token read.
    pub perfect: Option<Money>,
    /// The difference by cause; the sum is exactly bill − perfect bill.
    pub causes: Vec<CauseCost>,
}

/// What the predicted usage of a request costs. Its whole bill is in no report, and would be a fifth of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedCost {
    /// With the answer and fees.
    pub total: Money,
    /// The prompt alone.
    pub input: Money,
}

impl PredictedCost {
    /// The sums of a bill.
    pub fn of(bill: &Bill) -> Self {
        Self { total: bill.total, input: bill.input() }
    }
}

/// A request in the ledger.
///
/// ```
/// use forkcast_sim::ledger::Line;
/// use forkcast_sim::pricing::{PriceBook, Terms};
/// use forkcast_sim::wire::Usage;
///
/// let rates = PriceBook::built_in().rates(&"claude-opus-4-8".into(), &Terms::default())?;
/// let usage = Usage { input_tokens: 1_000, output_tokens: 100, ..Usage::default() };
/// let mut line = Line::begun(0, 0, "claude-opus-4-8".to_owned());
/// line.recorded = Some(usage);
/// line.price(&usage, Some(&rates), &[]);
/// // Nothing was missed, so the request could not have been cheaper.
/// assert_eq!(line.charge.bill.map(|bill| bill.total), line.charge.perfect);
/// # Ok::<(), forkcast_sim::pricing::Unpriced>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Position among all requests of the run, ordered by time.
    pub index: usize,
    /// Session, as an index into the run's list of sessions.
    pub session: usize,
    /// The agent's chain; `None` if no profile can read the request.
    pub chain: Option<ChainId>,
    /// When it was sent.
    pub at: Option<Instant>,
    /// When the first byte of its answer was sent.
    pub first_byte_at: Option<Instant>,
    /// The model name as spelled in the request.
    pub model: String,
    /// Usage reported by the provider.
    pub recorded: Option<Usage>,
    /// Usage predicted by the rules.
    pub predicted: Option<Usage>,
    /// Cost of the predicted usage; `None` for a model without a price.
    pub predicted_cost: Option<PredictedCost>,
    /// Where every input token went; `None` if no profile can read the request.
    pub explanation: Option<Explanation>,
    /// Cost of the recorded usage, or of the predicted usage if none was recorded.
    pub charge: Charge,
    /// Premium for tokens that were written and never read; `None` for a model without a price.
    pub unread_writes: Option<Money>,
    /// Notes on how the line came about: lifetimes taken from the bill, prices before their first row, refusals.
    pub remarks: Vec<String>,
}

impl Line {
    /// A line that holds only its position and model.
    pub fn begun(index: usize, session: usize, model: String) -> Self {
        Self { index, session, model, ..Self::default() }
    }

    /// Fills in the cost of the billed `usage` and of the predicted usage.
    pub fn price(&mut self, usage: &Usage, rates: Option<&Rates>, fees: &[FeeLine]) {
        self.charge = charge(rates, usage, fees, self.explanation.as_ref());
        self.predicted_cost = match self.predicted {
            Some(predicted) if predicted == *usage => self.charge.bill.as_ref().map(PredictedCost::of),
            predicted => rates.zip(predicted).map(|(rates, usage)| PredictedCost::of(&rates.bill(&usage, fees))),
        };
    }

    /// The usage that was billed.
    pub fn billed(&self) -> Option<Usage> {
        self.recorded.or(self.predicted)
    }
}

/// Prices a request's usage and the causes of its misses. Without rates, tokens are counted and cost is unknown. The
/// perfect bill has the same fees, so fees belong to no cause.
pub fn charge(rates: Option<&Rates>, usage: &Usage, fees: &[FeeLine], explanation: Option<&Explanation>) -> Charge {
    let missed = explanation.map_or(&[][..], |explanation| &explanation.missed);
    let mut causes: Vec<CauseCost> = Vec::new();
    for part in missed {
        let cost = rates.map(|rates| rates.difference(part.billed_as, Category::Read, part.tokens));
        match causes.last_mut().filter(|last| last.cause == part.cause) {
            Some(last) => {
                last.tokens += part.tokens;
                last.cost = last.cost.zip(cost).map(|(sum, cost)| sum + cost);
            }
            None => causes.push(CauseCost { cause: part.cause, tokens: part.tokens, cost }),
        }
    }
    let Some(rates) = rates else { return Charge { bill: None, perfect: None, causes } };
    let bill = rates.bill(usage, fees);
    let perfect = match missed {
        [] => bill.total,
        _ => rates.bill(&perfect_usage(usage, explanation), fees).total,
    };
    settle(&mut causes, bill.total - perfect);
    Charge { bill: Some(bill), perfect: Some(perfect), causes }
}

/// The usage with every missed token read.
fn perfect_usage(usage: &Usage, explanation: Option<&Explanation>) -> Usage {
    let mut perfect = *usage;
    for part in explanation.map_or(&[][..], |explanation| &explanation.missed) {
        let from = match part.billed_as {
            Category::Input => &mut perfect.input_tokens,
            Category::Write5m => &mut perfect.ephemeral_5m_input_tokens,
            Category::Write1h => &mut perfect.ephemeral_1h_input_tokens,
            Category::Read | Category::Output => continue,
        };
        debug_assert!(part.tokens <= *from, "{} tokens missed of {from} billed so", part.tokens);
        *from -= part.tokens;
        perfect.cache_read_input_tokens += part.tokens;
    }
    perfect
}

/// Makes the causes add up to `difference` exactly. Each line of a bill is rounded once, so sums can be off by a few
/// units if prices are not whole units; the last cause takes the rest.
fn settle(causes: &mut [CauseCost], difference: Money) {
    let sum: Money = causes.iter().filter_map(|cause| cause.cost).sum();
    if let Some(cost) = causes.last_mut().and_then(|cause| cause.cost.as_mut()) {
        *cost += difference - sum;
    }
}
