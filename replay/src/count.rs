//! Counts that other programs wrote down, held to one bound (`forkcast_sim::wire::TOKENS_MAX`).

use std::fmt;

use forkcast_sim::wire::TOKENS_MAX;

/// `count`, which stands under `name`.
///
/// # Errors
/// What was found and expected, if the count is above the bound.
pub(crate) fn believed(name: &str, count: u64) -> Result<u64, String> {
    if count <= TOKENS_MAX { Ok(count) } else { Err(refused(name, count)) }
}

/// Why the number under `name` is not taken as a count.
pub(crate) fn refused(name: &str, number: impl fmt::Display) -> String {
    format!("`{name}` is {number}, expected a whole number from 0 to {TOKENS_MAX}")
}
