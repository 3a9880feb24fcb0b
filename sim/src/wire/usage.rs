//! The token counts that a provider reports for one request.

use std::ops::{Add, AddAssign};

use super::marker::Ttl;

/// Largest accepted count of tokens, from a recording, a scenario or an option. A thousand times the largest context
/// window (10 million, 2026-11), so that the sum of a whole session fits as well; and 1.8 billion such counts still add
/// up to less than 2⁶⁴, so a sum that does not fit is a fault of the program.
pub const TOKENS_MAX: u64 = 10_000_000_000;

/// Usage in the additive convention: the four input parts are disjoint and their sum is the whole prompt.
///
/// Source: Anthropic prompt-caching page, section on usage fields (2026-09).
///
/// ```
/// use forkcast_sim::wire::Usage;
///
/// let usage = Usage { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 20, ..Usage::default() };
/// assert_eq!(usage.total_input_tokens(), 1_000);
/// assert_eq!(usage.hit_rate(), Some(0.9));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Tokens after the last effective breakpoint (or the whole prompt if nothing is cached).
    pub input_tokens: u64,
    /// Tokens taken from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens written with a lifetime of five minutes, or with the provider's only, short one (30 minutes of `OpenAI`).
    pub ephemeral_5m_input_tokens: u64,
    /// Tokens written with a lifetime of one hour.
    pub ephemeral_1h_input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

impl Usage {
    /// Tokens written, for any lifetime.
    pub const fn cache_creation_input_tokens(&self) -> u64 {
        self.ephemeral_5m_input_tokens + self.ephemeral_1h_input_tokens
    }

    /// The lifetime at which all written tokens were billed; `None` if none were written, or at two lifetimes.
    pub const fn billed_ttl(&self) -> Option<Ttl> {
        match (self.ephemeral_5m_input_tokens, self.ephemeral_1h_input_tokens) {
            (1.., 0) => Some(Ttl::FiveMinutes),
            (0, 1..) => Some(Ttl::OneHour),
            _ => None,
        }
    }

    /// The longest lifetime at which written tokens were billed; `None` if none were written.
    pub const fn longest_ttl(&self) -> Option<Ttl> {
        match (self.ephemeral_5m_input_tokens, self.ephemeral_1h_input_tokens) {
            (0, 0) => None,
            (_, 0) => Some(Ttl::FiveMinutes),
            _ => Some(Ttl::OneHour),
        }
    }

    /// Input that is in the cache afterwards: read or written.
    pub const fn cached_input_tokens(&self) -> u64 {
        self.cache_read_input_tokens + self.cache_creation_input_tokens()
    }

    /// The whole prompt: read, written and plain input.
    pub const fn total_input_tokens(&self) -> u64 {
        self.input_tokens + self.cached_input_tokens()
    }

    /// Share of the prompt that was read from the cache, over all three input parts; `None` for an empty prompt.
    pub fn hit_rate(&self) -> Option<f64> {
        let total = self.total_input_tokens();
        (total > 0).then(|| self.cache_read_input_tokens as f64 / total as f64)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            cache_read_input_tokens: self.cache_read_input_tokens + other.cache_read_input_tokens,
            ephemeral_5m_input_tokens: self.ephemeral_5m_input_tokens + other.ephemeral_5m_input_tokens,
            ephemeral_1h_input_tokens: self.ephemeral_1h_input_tokens + other.ephemeral_1h_input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
