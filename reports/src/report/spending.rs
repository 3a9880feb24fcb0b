//! The parts of a bill.

use forkcast_sim::pricing::{Bill, Category, Money};

/// A bill, or several, by parts. The parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens read from the cache.
    pub read: Money,
    /// Tokens written to the cache for five minutes, or with the provider's only lifetime.
    pub write_5m: Money,
    /// Tokens written to the cache for one hour.
    pub write_1h: Money,
    /// Input that is neither read nor written.
    pub input: Money,
    /// Answers.
    pub output: Money,
    /// Charges other than for tokens.
    pub fees: Money,
}

impl Spending {
    /// The parts of one bill.
    pub fn of(bill: &Bill) -> Self {
        let mut spending = Self::default();
        for line in &bill.lines {
            let part = match line.category {
                Category::Read => &mut spending.read,
                Category::Write5m => &mut spending.write_5m,
                Category::Write1h => &mut spending.write_1h,
                Category::Input => &mut spending.input,
                Category::Output => &mut spending.output,
            };
            *part += line.cost;
        }
        spending.fees = bill.fees.iter().map(|fee| fee.cost).sum();
        spending
    }

    /// All of it.
    pub fn total(&self) -> Money {
        self.read + self.writes() + self.input + self.output + self.fees
    }

    /// Writes of all lifetimes.
    pub fn writes(&self) -> Money {
        self.write_5m + self.write_1h
    }
}

impl std::ops::AddAssign for Spending {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.write_5m += other.write_5m;
        self.write_1h += other.write_1h;
        self.input += other.input;
        self.output += other.output;
        self.fees += other.fees;
    }
}
