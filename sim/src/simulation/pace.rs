//! How long a provider takes.

use crate::time::Duration;

/// Time to the first token from tokens read, written and fresh, then tokens per second. All integers.
///
/// Providers do not publish these figures, so the defaults are a declared assumption: they have the order of magnitude
/// of public measurements of prompt caching (arXiv 2601.06007: caching shortens the time to the first token by 13 to 31
/// %), and every report with times says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Fixed part: network, queue, the first token itself.
    pub base: Duration,
    /// Per thousand tokens read from the cache.
    pub read_per_kilotoken: Duration,
    /// Per thousand tokens written to it.
    pub write_per_kilotoken: Duration,
    /// Per thousand tokens that are neither.
    pub fresh_per_kilotoken: Duration,
    /// Per token of the answer.
    pub per_output_token: Duration,
    /// Time to a refusal.
    pub refusal: Duration,
}

impl Default for Pace {
    /// 600 ms, 1 ms per thousand tokens read, 15 ms per thousand written or fresh, 65 tokens a second, 300 ms to a refusal.
    fn default() -> Self {
        Self {
            base: Duration::from_millis(600),
            read_per_kilotoken: Duration::from_millis(1),
            write_per_kilotoken: Duration::from_millis(15),
            fresh_per_kilotoken: Duration::from_millis(15),
            per_output_token: Duration(1_000_000_000 / 65),
            refusal: Duration::from_millis(300),
        }
    }
}

impl Pace {
    /// Time from the request to the first byte of its answer.
    pub fn first_byte(&self, read_tokens: u64, written_tokens: u64, fresh_tokens: u64) -> Duration {
        let part = |tokens: u64, per_kilotoken: Duration| Duration(tokens.saturating_mul(per_kilotoken.0) / 1_000);
        self.base
            + part(read_tokens, self.read_per_kilotoken)
            + part(written_tokens, self.write_per_kilotoken)
            + part(fresh_tokens, self.fresh_per_kilotoken)
    }

    /// Time from the first byte to the end of an answer of this many tokens.
    pub fn streaming(&self, output_tokens: u64) -> Duration {
        Duration(output_tokens.saturating_mul(self.per_output_token.0))
    }
}
