//! The result of a cell.

use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Usage;

/// The result of a cell. Sums are over the children unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Their usage.
    pub usage: Usage,
    /// Their bill; `None` if the model has no price.
    pub cost: Option<Money>,
    /// The cost of the same tokens without a cache.
    pub cost_without_cache: Option<Money>,
    /// The cost of their input in millionths of the price of a plain input token.
    pub equivalents_millionths: Option<i128>,
    /// The parent's usage.
    pub parent_usage: Usage,
    /// Time from the start of the first child to the end of the last.
    pub makespan: Duration,
    /// Requests that the children sent.
    pub requests: u64,
    /// Calls refused by a rate limit, including the parent's. They cost time but no money.
    pub over_limits: u64,
    /// Requests that were never answered because their child ran out of retries.
    pub unanswered: u64,
}

impl Outcome {
    /// Share of the input that was read.
    pub fn hit_rate(&self) -> f64 {
        match self.usage.total_input_tokens() {
            0 => 0.0,
            total => self.usage.cache_read_input_tokens as f64 / total as f64,
        }
    }
}
