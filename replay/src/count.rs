//! Counts and costs that other programs recorded. One bound holds for all counts (`forkcast_sim::wire::TOKENS_MAX`).

use std::fmt;

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::{TOKENS_MAX, Usage};

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

/// The counts of a prompt that include the tokens read from the cache and written to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptCounts {
    /// The name of the count of the whole prompt, for messages.
    pub name: &'static str,
    /// The whole prompt.
    pub tokens: u64,
    /// The read part.
    pub read: u64,
    /// The written part.
    pub written: u64,
}

impl PromptCounts {
    /// The same as additive counts. If the parts exceed the whole, the answer uses an unknown convention.
    pub fn additive(self, output_tokens: u64) -> Result<Usage, String> {
        let Self { name, tokens, read, written } = self;
        let input_tokens = tokens.checked_sub(read).and_then(|rest| rest.checked_sub(written)).ok_or_else(|| {
            let written = if written > 0 { format!(" and {written} written") } else { String::new() };
            format!("`{name}` is {tokens}, expected at least the {read} read{written} tokens that are part of it")
        })?;
        Ok(Usage {
            input_tokens,
            cache_read_input_tokens: read,
            ephemeral_5m_input_tokens: written,
            ephemeral_1h_input_tokens: 0,
            output_tokens,
        })
    }
}
