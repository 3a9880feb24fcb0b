//! What a bar is made of.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;
use plotters::style::RGBColor;

use super::ink;
use crate::report::Spending;

/// What the height of a bar means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// 10⁻¹² USD.
    Dollars,
    /// Tokens, if nothing has a price.
    Tokens,
}

/// Amounts by category: of a request, or the sum of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bar {
    pub answers: u64,
    pub read: u64,
    pub written: u64,
    pub input: u64,
    /// The part of writes and of plain input that reading would have saved.
    pub missed: u64,
    /// What that cost by cause.
    pub causes: BTreeMap<Cause, Money>,
}

/// A part of a bar.
pub(super) struct Part {
    pub name: &'static str,
    pub colour: RGBColor,
    pub amount: u64,
}

impl Bar {
    pub fn of(line: &Line, usage: &Usage, unit: Unit) -> Self {
        let bar = match unit {
            Unit::Dollars => Self::in_dollars(line),
            Unit::Tokens => Self::in_tokens(line, usage),
        };
        // Missed tokens were paid as a write or as plain input: it is taken out of these.
        let from_written = bar.missed.min(bar.written);
        let from_input = (bar.missed - from_written).min(bar.input);
        Self {
            written: bar.written - from_written,
            input: bar.input - from_input,
            missed: from_written + from_input,
            ..bar
        }
    }

    fn in_dollars(line: &Line) -> Self {
        let amount = |cost: Money| u64::try_from(cost.picousd().max(0)).unwrap_or(u64::MAX);
        let Some(bill) = &line.charge.bill else { return Self::default() };
        let spending = Spending::of(bill);
        let mut causes: BTreeMap<Cause, Money> = BTreeMap::new();
        for part in &line.charge.causes {
            if let Some(cost) = part.cost {
                *causes.entry(part.cause).or_default() += cost;
            }
        }
        Self {
            answers: amount(spending.output + spending.fees),
            read: amount(spending.read),
            written: amount(spending.writes()),
            input: amount(spending.input),
            missed: amount(causes.values().copied().sum()),
            causes,
        }
    }

    fn in_tokens(line: &Line, usage: &Usage) -> Self {
        Self {
            answers: usage.output_tokens,
            read: usage.cache_read_input_tokens,
            written: usage.cache_creation_input_tokens(),
            input: usage.input_tokens,
            missed: line.explanation.as_ref().map_or(0, |explanation| explanation.missed_tokens()),
            causes: BTreeMap::new(),
        }
    }

    /// All parts.
    pub fn total(&self) -> u64 {
        self.parts().iter().fold(0, |sum, part| sum.saturating_add(part.amount))
    }

    /// From the ground up: missed tokens are on top, where they are seen.
    pub fn parts(&self) -> [Part; 5] {
        let part = |name, colour, amount| Part { name, colour, amount };
        [
            part("Answers", ink::ANSWER, self.answers),
            part("Read from the cache", ink::READ, self.read),
            part("Plain input", ink::INPUT, self.input),
            part("Written to the cache", ink::WRITTEN, self.written),
            part("Sent before, not read", ink::MISSED, self.missed),
        ]
    }
}

impl std::ops::AddAssign for Bar {
    fn add_assign(&mut self, other: Self) {
        self.answers = self.answers.saturating_add(other.answers);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.input = self.input.saturating_add(other.input);
        self.missed = self.missed.saturating_add(other.missed);
        for (cause, cost) in other.causes {
            *self.causes.entry(cause).or_default() += cost;
        }
    }
}
