//! Sums over requests, as every part of a report shows them.

use std::collections::BTreeMap;

use forkcast_replay::agreement::{self, Compared};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::{CauseTotal, Totals};
use forkcast_sim::pricing::{Bill, Category, Money};
use forkcast_sim::wire::Usage;

use super::Entry;

/// Usage and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Tokens.
    pub usage: Usage,
    /// Money; `None` where nothing has a price. What has none is left out of sums.
    pub cost: Option<Money>,
}

/// Tokens that were not counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimated {
    /// Tokens.
    pub tokens: u64,
    /// Requests.
    pub requests: u64,
}

/// How well prediction and recording agree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Counts and token sums.
    pub sums: agreement::Agreement,
    /// Comparable requests whose read is predicted to the token.
    pub reads_exact: u64,
    /// Recorded input cost of the comparable requests; `None` where none has a price.
    pub recorded_input: Option<Money>,
    /// Predicted input cost of the same requests.
    pub predicted_input: Option<Money>,
}

impl Agreement {
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
    /// What the provider reported; empty where it reported nothing.
    pub recorded: Side,
    /// What the rules predict; `None` where no profile exists.
    pub predicted: Option<Side>,
    /// What was billed: recorded, or predicted where nothing was recorded.
    pub billed: Side,
    /// The bill with every missed token read.
    pub perfect: Option<Money>,
    /// Premiums of writes that nobody read.
    pub unread_writes: Option<Money>,
    /// Output that the recording holds as the start value of a stream only.
    pub output_estimated: Estimated,
    /// Prediction beside recording.
    pub agreement: Agreement,
    /// What was charged beside tokens, by the fee's name: how many, and for how much.
    pub fees: BTreeMap<String, (u64, Money)>,
    /// What was recorded of requests without a profile, and billed for it.
    without_profile: Side,
}

/// Which requests a sum counts. Decided once for the whole input, so that the parts add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Those whose usage was recorded: where there are some, the others enter no sum.
    Recorded,
    /// All, with their predicted usage, since nothing was recorded.
    Predicted,
}

impl Counted {
    /// What is counted of `entries`.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry<'a>>) -> Self {
        let recorded = entries.into_iter().any(|entry| entry.line.recorded.is_some());
        if recorded { Self::Recorded } else { Self::Predicted }
    }

    /// Whether a request is.
    pub const fn counts(self, entry: &Entry<'_>) -> bool {
        match self {
            Self::Recorded => entry.line.recorded.is_some(),
            Self::Predicted => true,
        }
    }
}

impl Account {
    /// The sums of `entries`.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry<'a>>, counted: Counted) -> Self {
        let entries: Vec<&Entry<'_>> = entries.into_iter().collect();
        let lines = entries.iter().filter(|entry| counted.counts(entry)).map(|entry| entry.line);
        let ledger = Totals { requests: entries.len() as u64, ..Totals::of(lines) };
        let mut account = Self { ledger, ..Self::default() };
        if entries.iter().any(|entry| entry.line.predicted.is_some()) {
            account.predicted = Some(Side::default());
        }
        for entry in entries {
            if counted.counts(entry) {
                account.add(entry);
            }
            account.agree(entry);
        }
        // A request that cannot be compared but has usage is predicted as it was recorded.
        if let Some(side) = &mut account.predicted {
            side.usage += account.without_profile.usage;
            add(&mut side.cost, account.without_profile.cost);
        }
        let recorded = account.ledger.recorded_requests > 0;
        account.recorded.usage = account.ledger.recorded;
        account.billed.usage = if recorded { account.ledger.recorded } else { account.ledger.predicted };
        account.recorded.cost = account.billed.cost.filter(|_| recorded);
        account
    }

    fn add(&mut self, entry: &Entry<'_>) {
        let line = entry.line;
        let bill = line.charge.bill.as_ref().map(|bill| bill.total);
        add(&mut self.billed.cost, bill);
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
                add(&mut side.cost, line.predicted_bill.as_ref().map(|bill| bill.total));
            }
            None => {
                self.without_profile.usage += line.recorded.unwrap_or_default();
                add(&mut self.without_profile.cost, bill);
            }
        }
        if let Some(recorded) = entry.exchange.and_then(|exchange| exchange.usage)
            && recorded.output_is_start_value
        {
            self.output_estimated.requests += 1;
            self.output_estimated.tokens += recorded.usage.output_tokens;
        }
    }

    fn agree(&mut self, entry: &Entry<'_>) {
        match entry.comparison {
            Err(why) => self.agreement.sums.pass(*why),
            Ok(compared) => self.compare(compared, entry),
        }
    }

    fn compare(&mut self, compared: &Compared, entry: &Entry<'_>) {
        self.agreement.sums.compare(compared);
        let [recorded, predicted] = [compared.recorded_usage, compared.predicted_usage];
        self.agreement.reads_exact += u64::from(recorded.cache_read_input_tokens == predicted.cache_read_input_tokens);
        add(&mut self.agreement.recorded_input, entry.line.charge.bill.as_ref().map(input_cost));
        add(&mut self.agreement.predicted_input, entry.line.predicted_bill.as_ref().map(input_cost));
    }

    /// The rules could read some of its requests: what was missed is known of these.
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

fn input_cost(bill: &Bill) -> Money {
    bill.lines.iter().filter(|line| line.category != Category::Output).map(|line| line.cost).sum()
}

fn add(sum: &mut Option<Money>, amount: Option<Money>) {
    if let Some(amount) = amount {
        *sum = Some(sum.unwrap_or_default() + amount);
    }
}
