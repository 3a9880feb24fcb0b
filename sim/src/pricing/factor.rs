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
        let above = i128::from(self.millionths);
        let below = i128::from(MILLION);
        let divisor = greatest_common_divisor(above, below);
        (above / divisor, below / divisor)
    }
}

/// Of `b` that is at least 1.
pub(super) const fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    debug_assert!(b > 0);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
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
