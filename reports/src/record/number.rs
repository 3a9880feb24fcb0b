//! Numbers that keep all their digits.

use forkcast_sim::pricing::Decimal;
use forkcast_sim::time::Instant;

/// An instant in milliseconds with up to six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis(pub Instant);

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Millionths(self.0.0.into()).fmt(f)
    }
}

/// Millionths, with all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millionths(pub i128);

impl std::fmt::Display for Millionths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Decimal { units: self.0, places: 6 }.fmt(f)
    }
}
