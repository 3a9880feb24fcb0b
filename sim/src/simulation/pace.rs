//! How long a provider takes.

use crate::time::Duration;

/// Time to the first token from tokens read, written and fresh, then tokens a second. All integers.
///
/// No provider publishes these figures, so the defaults are a declared assumption: they are of the size that public
/// measurements of prompt caching show (arXiv 2601.06007: caching shortens the time to the first token by 13 to 31 %),
/// and every report that shows time says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Before anything else: network, queue, the first token itself.
    pub base: Duration,
    /// For a thousand tokens read from the cache.
    pub read_per_kilotoken: Duration,
    /// For a thousand tokens written to it.
    pub write_per_kilotoken: Duration,
    /// For a thousand tokens that are neither.
    pub fresh_per_kilotoken: Duration,
    /// For a token of the answer.
    pub per_output_token: Duration,
    /// Until a refusal.
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

    /// Time from the first byte to the end of an answer of so many tokens.
    pub fn streaming(&self, output_tokens: u64) -> Duration {
        Duration(output_tokens.saturating_mul(self.per_output_token.0))
    }
}
