//! When a conversation is made shorter (contract COMPACT, G25).

use crate::outside::words;
use crate::time::Duration;

words! {
    /// How a conversation is made shorter, in the order in which it is tried (COMPACT-01).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Mechanism {
        /// Long results of earlier calls keep their beginning.
        Snip = "snip",
        /// Results of earlier calls are cleared (COMPACT-06).
        Micro = "micro",
        /// A summary replaces the conversation (COMPACT-03).
        Auto = "auto",
    }
}

/// Thresholds of compaction, in percent of the context window (G25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Tokens of the context window.
    pub window_tokens: u64,
    /// Threshold of each mechanism; `None` turns it off.
    pub percents: [Option<u64>; 3],
    /// The newest results, which snip and micro leave as they are.
    pub kept_results: usize,
    /// When an idle conversation is summarised.
    pub idle: Option<Idle>,
}

/// A conversation that nobody goes on with is summarised while the cache still holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The time since the last answer.
    pub after: Duration,
    /// Shorter conversations stay as they are.
    pub min_tokens: u64,
}

impl Idle {
    /// The client of October 2026: about nine tenths of an hour, from 200,000 tokens on.
    pub const CLIENT_2026_10: Self = Self { after: Duration::from_millis(55 * 60_000), min_tokens: 200_000 };
}

impl Compaction {
    /// Whether `mechanism` is due at this many tokens. If compaction is forced, the summary is due at the lowest threshold
    /// of all (STOP-06).
    pub fn is_due(&self, mechanism: Mechanism, tokens: u64, is_forced: bool) -> bool {
        let own = self.percents[mechanism as usize];
        let lowest = self.percents.iter().flatten().copied().min();
        let percent = if is_forced && mechanism == Mechanism::Auto { own.and(lowest) } else { own };
        percent.is_some_and(|percent| u128::from(tokens) * 100 >= u128::from(self.window_tokens) * u128::from(percent))
    }
}
