//! How well the prediction agrees with what the provider reported.

use std::collections::BTreeMap;

use super::fidelity::{Fidelity, Step};
use crate::outside::words;
use crate::wire::Usage;

/// Largest deviation of a read that still counts as expected: recorded reads of one prefix differ by a few tokens of
/// frame between requests (`data` of 2026-01 to 2026-08: 5 of 620 shortfalls).
pub const FRAME_TOKENS: u64 = 64;

words! {
    /// How much was read of the prefix that the chain's previous request left in the cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict: word {
        /// Nothing was read.
        Cold = "cold",
        /// A part was read.
        Partial = "partial",
        /// All that was expected was read.
        Full = "full",
    }
}

/// Requests that read this many tokens less than their chain had left missed something worth counting.
pub const MISS_TOKENS: u64 = 3_000;

impl Verdict {
    /// The verdict on a read if the chain's previous request left `expected` tokens in the cache.
    pub fn of(read_tokens: u64, expected_tokens: Option<u64>) -> Self {
        match expected_tokens {
            _ if read_tokens == 0 => Self::Cold,
            Some(expected) if read_tokens + FRAME_TOKENS < expected => Self::Partial,
            _ => Self::Full,
        }
    }
}

words! {
    /// Why a request is not compared with its recording.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum NotComparable: word {
        /// The first request of a transcript's chain, taken as given.
        FirstOfChain = "first_of_chain",
        /// It read tokens that had not been sent before in its scope, or not within the longest lifetime.
        Prewarmed = "prewarmed",
        /// Its counters are sums over the passes of a server-side tool.
        ServerTools = "server_tools",
        /// It has no breakpoint, so there is nothing to predict.
        NoMarker = "no_marker",
        /// The recording has no usage.
        NoUsage = "no_usage",
        /// No cache profile exists for its provider.
        NoProfile = "no_profile",
    }
}

/// One comparable request: prediction and recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Verdict on the recorded read.
    pub recorded: Verdict,
    /// Verdict on the predicted read.
    pub predicted: Verdict,
    /// Recorded usage.
    pub recorded_usage: Usage,
    /// Predicted usage.
    pub predicted_usage: Usage,
    /// An earlier request had shown the size of the prefix that is predicted to be read.
    pub size_known: bool,
    /// The nearest known prefixes around the predicted read: the longest that is not longer and the shortest that is
    /// not shorter. If the size is known, both equal it.
    pub between: (u64, u64),
    /// Tokens that the chain's previous request left in the cache; `None` if there was none.
    pub left_tokens: Option<u64>,
    /// The rule of sessions that decided the prediction; `None` for requests recorded as sent.
    pub rule: Option<&'static str>,
    /// What the naive rule predicts: all that the chain left is read within its lifetime by the same model, nothing
    /// else. `None` for requests recorded as sent.
    pub naive_usage: Option<Usage>,
    /// What it follows; `None` for requests recorded as sent.
    pub step: Option<Step>,
    /// It read exactly what the chain's previous request had read, although that one wrote more.
    pub late: bool,
}

impl Compared {
    /// The recorded read matches the prediction: exactly if the size is known, else between its known neighbours.
    pub fn read_agrees(&self) -> bool {
        let read = self.recorded_usage.cache_read_input_tokens;
        if self.size_known {
            return read == self.predicted_usage.cache_read_input_tokens;
        }
        (self.between.0..=self.between.1).contains(&read)
    }

    /// A miss came.
    pub fn missed(&self) -> bool {
        self.falls_short(&self.recorded_usage)
    }

    /// A miss was foreseen.
    pub fn foresees_miss(&self) -> bool {
        self.falls_short(&self.predicted_usage)
    }

    /// The verdict if this were the usage.
    pub fn verdict_on(&self, usage: &Usage) -> Verdict {
        Verdict::of(usage.cache_read_input_tokens, self.left_tokens)
    }

    /// Whether such a usage is a miss.
    pub fn falls_short(&self, usage: &Usage) -> bool {
        self.left_tokens.is_some_and(|left| usage.cache_read_input_tokens + MISS_TOKENS < left)
    }
}

/// Sums of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Requests compared.
    pub comparable: u64,
    /// Requests not compared, by reason, in the order of [`NotComparable::ALL`].
    pub not_comparable: [u64; 6],
    /// Compared requests whose verdicts are the same.
    pub same_verdict: u64,
    /// Compared requests whose read agrees.
    pub reads_agree: u64,
    /// Compared requests that read a prefix whose size was known.
    pub sizes_known: u64,
    /// Tokens read in the recordings of compared requests.
    pub read_tokens_recorded: u64,
    /// Sum of the absolute differences between predicted and recorded reads.
    pub read_tokens_abs_error: u64,
    /// Compared requests that missed more than 3,000 tokens.
    pub misses: u64,
    /// Those of them whose miss was foreseen.
    pub misses_foreseen: u64,
    /// Compared requests whose foreseen miss did not come, by the rule that foresaw it.
    pub not_come: BTreeMap<&'static str, u64>,
    /// Compared requests of sessions by what they follow: as forecast, and by the naive rule.
    pub steps: BTreeMap<Step, [Fidelity; 2]>,
}

impl Agreement {
    /// Adds a compared request.
    pub fn compare(&mut self, compared: &Compared) {
        let recorded = compared.recorded_usage.cache_read_input_tokens;
        let predicted = compared.predicted_usage.cache_read_input_tokens;
        self.comparable += 1;
        self.same_verdict += u64::from(compared.recorded == compared.predicted);
        self.reads_agree += u64::from(compared.read_agrees());
        self.sizes_known += u64::from(compared.size_known);
        self.read_tokens_recorded += recorded;
        self.read_tokens_abs_error += recorded.abs_diff(predicted);
        self.misses += u64::from(compared.missed());
        self.misses_foreseen += u64::from(compared.missed() && compared.foresees_miss());
        if compared.foresees_miss() && !compared.missed() {
            *self.not_come.entry(compared.rule.unwrap_or("cache")).or_default() += 1;
        }
        if let Some((step, naive)) = compared.step.zip(compared.naive_usage) {
            let [forecast, without_rules] = self.steps.entry(step).or_default();
            forecast.add(compared, &compared.predicted_usage);
            without_rules.add(compared, &naive);
        }
    }

    /// Compared requests of sessions: as forecast, and by the naive rule.
    pub fn of_sessions(&self) -> [Fidelity; 2] {
        let mut sums = [Fidelity::default(); 2];
        for step in self.steps.values() {
            sums.iter_mut().zip(step).for_each(|(sum, own)| *sum += *own);
        }
        sums
    }

    /// Adds a request that cannot be compared.
    pub fn pass(&mut self, why: NotComparable) {
        self.not_comparable[why as usize] += 1;
    }
}
