//! Sums of lines: per session, per group, and overall.

use std::collections::BTreeMap;

use super::line::Line;
use crate::diagnosis::Cause;
use crate::pricing::Money;
use crate::wire::Usage;

/// Totals of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CauseTotal {
    /// Requests with at least one token of this cause.
    pub requests: u64,
    /// Tokens.
    pub tokens: u64,
    /// Cost above the read price, without requests that have no price.
    pub cost: Money,
}

/// Sums over lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Requests whose usage was recorded.
    pub recorded_requests: u64,
    /// Recorded usage.
    pub recorded: Usage,
    /// Predicted usage; a request that cannot be compared counts with its recorded usage.
    pub predicted: Usage,
    /// Requests counted in `predicted`. A request without usage counts only if no request of the sum has usage.
    pub predicted_requests: u64,
    /// Bill of the predicted usage, without requests that have no price.
    pub predicted_bill: Money,
    /// Bill of the recorded usage, or of the predicted usage if no request of the sum has usage.
    pub bill: Money,
    /// The same bill with every missed token read.
    pub perfect: Money,
    /// Requests whose model has no price.
    pub unpriced: u64,
    /// Causes of missed tokens.
    pub causes: BTreeMap<Cause, CauseTotal>,
    /// Premiums for writes that were never read.
    pub unread_writes: Money,
    /// Tokens that were read. With new and missed tokens they add up to the input of all explained requests, and with
    /// [`Self::unknown_tokens`] to all billed input.
    pub read_tokens: u64,
    /// Tokens that had not been sent before.
    pub new_tokens: u64,
    /// Tokens that had been sent before and were not read.
    pub missed_tokens: u64,
    /// Input that may or may not have been sent before: the recording does not hold the whole prompt, or no profile can
    /// read it.
    pub unknown_tokens: u64,
}

impl Totals {
    /// The sums of `lines`.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line> + Clone) -> Self {
        let recorded = lines.clone().into_iter().any(|line| line.recorded.is_some());
        let mut totals = Self::default();
        for line in lines {
            totals.requests += 1;
            if line.recorded.is_some() || !recorded {
                totals.add(line);
            }
        }
        totals
    }

    /// Adds one line. [`Self::requests`] is unchanged, because it also counts lines outside the sum. If any line of the
    /// sum has recorded usage, the caller leaves out lines without.
    pub fn add(&mut self, line: &Line) {
        self.recorded_requests += u64::from(line.recorded.is_some());
        self.recorded += line.recorded.unwrap_or_default();
        self.predicted_requests += u64::from(line.predicted.is_some());
        self.predicted += line.predicted.unwrap_or_default();
        self.predicted_bill += line.predicted_cost.map_or(Money::default(), |cost| cost.total);
        self.unread_writes += line.unread_writes.unwrap_or_default();
        match (&line.charge.bill, line.charge.perfect) {
            (Some(bill), Some(perfect)) => {
                self.bill += bill.total;
                self.perfect += perfect;
            }
            _ => self.unpriced += u64::from(line.billed().is_some()),
        }
        for cause in &line.charge.causes {
            let total = self.causes.entry(cause.cause).or_default();
            total.requests += 1;
            total.tokens += cause.tokens;
            total.cost += cause.cost.unwrap_or_default();
        }
        let mut explained = 0;
        if let Some(explanation) = &line.explanation {
            self.read_tokens += explanation.read_tokens;
            self.new_tokens += explanation.new_tokens;
            self.missed_tokens += explanation.missed_tokens();
            explained = explanation.read_tokens + explanation.new_tokens + explanation.missed_tokens();
        }
        let billed = line.billed().unwrap_or_default().total_input_tokens();
        debug_assert!(explained <= billed, "{explained} tokens are explained of {billed}");
        self.unknown_tokens += billed - explained;
    }
}
