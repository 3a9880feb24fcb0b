//! Counts and costs that other programs recorded. One bound holds for all counts (`forkcast_sim::wire::TOKENS_MAX`).

use std::fmt;

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::TOKENS_MAX;

const PICOUSD_PER_USD: f64 = 1e12;

/// An amount in USD; `None` if it is negative or implausibly large.
pub(crate) fn usd(amount: f64) -> Option<Money> {
    (0.0..1e9).contains(&amount).then(|| Money::from_picousd((amount * PICOUSD_PER_USD).round() as i128))
}

/// The count under `name`; an error if it is above the bound.
pub(crate) fn believed(name: &str, count: u64) -> Result<u64, String> {
    if count <= TOKENS_MAX { Ok(count) } else { Err(refused(name, count)) }
}

/// The error about a number under `name` that is no plausible count.
pub(crate) fn refused(name: &str, number: impl fmt::Display) -> String {
    format!("`{name}` is {number}, expected a whole number from 0 to {TOKENS_MAX}")
}
