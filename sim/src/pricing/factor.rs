//! Factors on prices, exact.

use std::fmt;

const MILLION: u64 = 1_000_000;

/// A factor with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor {
    millionths: u64,
}

impl Factor {
    /// Nothing changes.
    pub const ONE: Self = Self { millionths: MILLION };

    /// `millionths` millionths.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// In millionths.
    pub const fn millionths(self) -> u64 {
        self.millionths
    }

    /// As a fraction in lowest terms.
    pub fn fraction(self) -> (i128, i128) {
        let divisor = greatest_common_divisor(self.millionths.into(), MILLION.into()).max(1);
        let part = |number: u64| i128::try_from(u128::from(number) / divisor).unwrap_or(i128::MAX);
        (part(self.millionths), part(MILLION))
    }
}

pub(super) const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Factor {
    /// All digits: `0.5`, `2`, `1.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:06}", self.millionths % MILLION);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{}{point}{decimals}", self.millionths / MILLION)
    }
}
