//! What came of a cell.

use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Usage;

/// What came of a cell. Sums are of the children alone where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Their usage.
    pub usage: Usage,
    /// Their bill; nothing where the model has no price.
    pub cost: Option<Money>,
    /// The bill of the same tokens without any cache.
    pub cost_without_cache: Option<Money>,
    /// Their input in tokens of plain input, in millionths: what their input cost over the price of one such token.
    pub equivalents_millionths: Option<i128>,
    /// The parent's usage.
    pub parent_usage: Usage,
    /// From the start of the first child to the end of the last.
    pub makespan: Duration,
    /// Requests that the children sent.
    pub requests: u64,
    /// Calls that a limit of rate refused, the parent's among them. They cost nothing, and time.
    pub over_limits: u64,
    /// Requests that were never answered, because their child had no more tries.
    pub unanswered: u64,
}

impl Outcome {
    /// Read over the whole input.
    pub fn hit_rate(&self) -> f64 {
        match self.usage.total_input_tokens() {
            0 => 0.0,
            total => self.usage.cache_read_input_tokens as f64 / total as f64,
        }
    }
}
