//! Numbers that keep all their digits.

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
        let decimals = format!("{:06}", self.0.unsigned_abs() % 1_000_000);
        let decimals = decimals.trim_end_matches('0');
        let sign = if self.0 < 0 { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{decimals}", self.0.unsigned_abs() / 1_000_000)
    }
}
