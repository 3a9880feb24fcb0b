//! Exact factors on prices.

use std::fmt;

use super::money::Decimal;

const MILLION: u64 = 1_000_000;

/// A factor with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor {
    millionths: u64,
}

impl Factor {
    /// The factor 1.
    pub const ONE: Self = Self { millionths: MILLION };

    /// A factor of `millionths` millionths.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// The factor in millionths.
    pub const fn millionths(self) -> u64 {
        self.millionths
    }

    /// The factor as a fraction in lowest terms.
    pub fn fraction(self) -> (i128, i128) {
        let above = i128::from(self.millionths);
        let below = i128::from(MILLION);
        let divisor = greatest_common_divisor(above, below);
        (above / divisor, below / divisor)
    }
}

/// Expects `b` of at least 1.
pub(super) const fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    debug_assert!(b > 0);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl fmt::Display for Factor {
    /// All digits, such as `0.5`, `2` or `1.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal { units: self.millionths.into(), places: 6 }.fmt(f)
    }
}
