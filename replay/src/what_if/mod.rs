//! What the same requests would have cost otherwise.

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

/// What one request would have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hypothetical {
    /// Its usage, with that of the pings that kept its prefix alive.
    pub usage: Usage,
    /// What it would have cost; `None` for a model without a price.
    pub cost: Option<Money>,
}
