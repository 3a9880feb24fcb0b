//! Sums over requests, for every part of a report.

use std::collections::BTreeMap;

use forkcast_replay::rebuild::forecast::INTERVAL_PER_MILLE;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::{CauseTotal, Totals};
use forkcast_sim::pricing::{Bill, Money, div_half_even};
use forkcast_sim::service::{self, Compared};
use forkcast_sim::wire::Usage;

use super::{Recorded, Spending};

/// Usage and its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Tokens.
    pub usage: Usage,
    /// Money; `None` if nothing has a price. Requests without a price are left out of sums.
    pub cost: Option<Money>,
}

impl Side {
    /// Adds the bill of a request, if it counts.
    pub(super) fn count(&mut self, entry: &Recorded<'_>, counted: Counted) {
        if counted.counts(entry) {
            self.usage += entry.line.billed().unwrap_or_default();
            add(&mut self.cost, entry.line.charge.bill.as_ref().map(|bill| bill.total));
        }
    }

    /// Adds another sum.
    pub(super) fn add(&mut self, other: &Self) {
        self.usage += other.usage;
        add(&mut self.cost, other.cost);
    }
}

/// Output of recordings with only the start value of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimated {
    /// Estimated tokens; the recorded ones if there is no estimate.
    pub tokens: u64,
    /// Requests.
    pub requests: u64,
    /// Recorded tokens, which are in the bill.
    pub recorded_tokens: u64,
    /// The additional cost of the estimate; `None` if nothing has a price.
    pub extra: Option<Money>,
}

/// What the recorded input may cost more than the predicted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residual {
    /// On average, by misses without a sign.
    pub expected: Money,
    /// At least, for nine of ten sessions; less than nothing if the forecast is too high.
    pub low: Money,
    /// At most.
    pub high: Money,
}

/// How well prediction and recording agree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Counts and token sums.
    pub sums: service::Agreement,
    /// Comparable requests with a read that is predicted exactly.
    pub reads_exact: u64,
    /// Recorded input cost of the comparable requests; `None` if none has a price.
    pub recorded_input: Option<Money>,
    /// Predicted input cost of the same requests.
    pub predicted_input: Option<Money>,
    /// Sum of the absolute errors of their predicted input costs.
    pub input_errors: Option<Money>,
}

impl Agreement {
    /// Sum of the absolute errors ÷ recorded input cost.
    pub fn absolute_error(&self) -> Option<f64> {
        let recorded = self.recorded_input.filter(|recorded| *recorded != Money::ZERO)?;
        Some(self.input_errors?.picousd() as f64 / recorded.picousd() as f64)
    }

    /// Predicted ÷ recorded input cost − 1.
    pub fn cost_error(&self) -> Option<f64> {
        let recorded = self.recorded_input.filter(|recorded| *recorded != Money::ZERO)?;
        let predicted = self.predicted_input?;
        Some((predicted - recorded).picousd() as f64 / recorded.picousd() as f64)
    }
}

/// Sums over some requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// The ledger's own sums.
    pub ledger: Totals,
    /// What the provider reported; empty if it reported nothing.
    pub recorded: Side,
    /// The prediction of the rules; `None` if there is no profile.
    pub predicted: Option<Side>,
    /// The billed usage: recorded, or predicted if nothing was recorded.
    pub billed: Side,
    /// The parts of the bill; they add up to it.
    pub spending: Spending,
    /// The bill with every missed token read.
    pub perfect: Option<Money>,
    /// Premiums of writes that were never read.
    pub unread_writes: Option<Money>,
    /// Output with only the start value of a stream recorded.
    pub output_estimated: Estimated,
    /// What misses without a sign add to the forecast on average; `None` if nothing is forecast.
    pub unforeseen: Option<Money>,
    /// Estimated cost of requests that are in no transcript, without their output; in no other sum. `None` if nothing shows any.
    pub hidden: Option<Money>,
    /// The results for the same requests under each what-if, in the order of the options; requests that cannot be
    /// replayed count as they were billed. Empty if there are no what-ifs or no profile.
    pub what_if: Vec<Side>,
    /// The clairvoyant lower bound; requests without one count as they were billed. `None` if none is known.
    pub lower_bound: Option<Money>,
    /// Prediction and recording compared.
    pub agreement: Agreement,
    /// Charges other than for tokens, by the fee's name: number and amount.
    pub fees: BTreeMap<String, (u64, Money)>,
    /// Recorded usage of requests without a profile, and their bill.
    without_profile: Side,
    /// A lower bound is known for some request.
    bounded: bool,
}

/// Which requests a sum counts. Decided once for the whole input, so that the parts add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Those with recorded usage, and those that were given up, for nothing: the others enter no sum.
    Recorded,
    /// All but refused ones, with their predicted usage, because nothing was recorded.
    Predicted,
}

impl Counted {
    /// Whether a request counts.
    pub fn counts(self, entry: &Recorded<'_>) -> bool {
        match self {
            Self::Recorded => entry.line.recorded.is_some() || entry.given_up(),
            Self::Predicted => !entry.failed(),
        }
    }
}

impl Account {
    /// By how much the bill is above the lower bound; `None` if that is not known.
    pub fn above_bound(&self) -> Option<Money> {
        Some(self.billed.cost? - self.lower_bound?)
    }

    /// The sums of `entries`.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Recorded<'a>>, counted: Counted) -> Self {
        let mut account = Self::default();
        entries.into_iter().for_each(|entry| account.take(entry, counted));
        account.finished()
    }

    /// Adds a request; [`Self::finished`] must be called at the end.
    pub(super) fn take(&mut self, entry: &Recorded<'_>, counted: Counted) {
        self.ledger.requests += 1;
        self.bounded |= entry.lower_bound.is_some();
        // Earlier requests had no what-ifs, so they count as they were billed.
        while self.what_if.len() < entry.hypotheticals.len() {
            self.what_if.push(self.billed);
        }
        if entry.line.predicted.is_some() {
            self.predicted.get_or_insert_default();
        }
        if counted.counts(entry) {
            self.add(entry);
        }
        self.agree(entry);
    }

    /// A part of a whole that has predictions: a request with usage but without a profile is predicted as it was
    /// recorded, in each part as in the whole, so that the parts add up.
    pub(super) fn predict_as_recorded(&mut self) {
        self.predicted.get_or_insert(self.without_profile);
    }

    /// The sums, once all requests are in.
    pub(super) fn finished(mut self) -> Self {
        // A request with usage that cannot be compared is predicted as it was recorded.
        if let Some(side) = &mut self.predicted {
            side.usage += self.without_profile.usage;
            add(&mut side.cost, self.without_profile.cost);
        }
        self.lower_bound = self.lower_bound.filter(|_| self.bounded);
        debug_assert_eq!(self.spending.total(), self.billed.cost.unwrap_or_default(), "parts of the bill and the bill");
        let recorded = self.ledger.recorded_requests > 0;
        self.recorded.usage = self.ledger.recorded;
        self.recorded.cost = self.billed.cost.filter(|_| recorded);
        self
    }

    fn add(&mut self, entry: &Recorded<'_>) {
        let line = &entry.line;
        let bill = line.charge.bill.as_ref().map(|bill| bill.total);
        for (at, side) in self.what_if.iter_mut().enumerate() {
            let hypothetical = entry.hypotheticals.get(at);
            side.usage += hypothetical.map_or_else(|| line.billed().unwrap_or_default(), |found| found.usage);
            add(&mut side.cost, hypothetical.map_or(bill, |found| found.cost));
        }
        self.ledger.add(line);
        self.billed.usage += line.billed().unwrap_or_default();
        add(&mut self.billed.cost, bill);
        line.charge.bill.iter().for_each(|bill| self.spending += Spending::of(bill));
        add(&mut self.perfect, line.charge.perfect);
        for fee in line.charge.bill.iter().flat_map(|bill| &bill.fees) {
            let sum = self.fees.entry(fee.name.clone()).or_default();
            *sum = (sum.0.saturating_add(fee.count), sum.1 + fee.cost);
        }
        add(&mut self.unread_writes, line.unread_writes);
        match line.predicted {
            Some(usage) => {
                let side = self.predicted.get_or_insert_default();
                side.usage += usage;
                add(&mut side.cost, line.predicted_cost.map(|cost| cost.total));
            }
            None => {
                self.without_profile.usage += line.recorded.unwrap_or_default();
                add(&mut self.without_profile.cost, bill);
            }
        }
        if let Some(output) = entry.output {
            self.output_estimated.requests += 1;
            self.output_estimated.tokens += output.tokens;
            self.output_estimated.recorded_tokens += output.recorded_tokens;
            add(&mut self.output_estimated.extra, output.extra);
        }
        add(&mut self.unforeseen, entry.unforeseen);
        add(&mut self.hidden, entry.hidden);
        add(&mut self.lower_bound, entry.lower_bound.or(bill));
    }

    /// What a what-if would have saved of the bill; negative if it costs more. What-ifs keep recorded values unless
    /// they change something, so that errors of a prediction are in no difference.
    pub fn saved(&self, what_if: usize) -> Option<Money> {
        Some(self.billed.cost? - self.what_if.get(what_if)?.cost?)
    }

    fn agree(&mut self, entry: &Recorded<'_>) {
        match &entry.comparison {
            Err(why) => self.agreement.sums.pass(*why),
            Ok(compared) => self.compare(compared, entry),
        }
    }

    fn compare(&mut self, compared: &Compared, entry: &Recorded<'_>) {
        self.agreement.sums.compare(compared);
        let [recorded, predicted] = [compared.recorded_usage, compared.predicted_usage];
        self.agreement.reads_exact += u64::from(recorded.cache_read_input_tokens == predicted.cache_read_input_tokens);
        let recorded = entry.line.charge.bill.as_ref().map(Bill::input);
        let predicted = entry.line.predicted_cost.map(|cost| cost.input);
        add(&mut self.agreement.recorded_input, recorded);
        add(&mut self.agreement.predicted_input, predicted);
        let error = recorded.zip(predicted).map(|(recorded, predicted)| (recorded - predicted).picousd().abs());
        add(&mut self.agreement.input_errors, error.map(Money::from_picousd));
    }

    /// What the recorded input may cost more than the predicted one; `None` if nothing is forecast.
    pub fn residual(&self) -> Option<Residual> {
        let (expected, predicted) = self.unforeseen.zip(self.agreement.predicted_input)?;
        let part =
            |per_mille: i64| Money::from_picousd(div_half_even(predicted.picousd() * i128::from(per_mille), 1_000));
        let (low, high) = INTERVAL_PER_MILLE;
        Some(Residual { expected, low: part(low), high: part(high) })
    }

    /// The same as a share of the bill; `None` if the bill is zero.
    pub fn saved_share(&self, what_if: usize) -> Option<f64> {
        let (saved, whole) = (self.saved(what_if)?, self.billed.cost?);
        (whole != Money::ZERO).then(|| saved.picousd() as f64 / whole.picousd() as f64)
    }

    /// Whether the rules could read some of its requests: only for these the missed tokens are known.
    pub const fn is_explained(&self) -> bool {
        self.ledger.read_tokens > 0 || self.ledger.new_tokens > 0 || self.ledger.missed_tokens > 0
    }

    /// The causes, the dearest first.
    pub fn causes(&self) -> Vec<(Cause, CauseTotal)> {
        let mut causes: Vec<_> = self.ledger.causes.iter().map(|(cause, total)| (*cause, *total)).collect();
        causes.sort_by_key(|(cause, total)| (-total.cost, std::cmp::Reverse(total.tokens), *cause));
        causes
    }
}

fn add(sum: &mut Option<Money>, amount: Option<Money>) {
    if let Some(amount) = amount {
        *sum = Some(sum.unwrap_or_default() + amount);
    }
}
