//! Rate limits: how many requests, and how much uncached input, a provider accepts per minute.
//!
//! * What counts: `input_tokens` and `cache_creation_input_tokens`; reads do not, except for Haiku 3.5 (`providers.md`
//!   1, "ITPM limit"; platform.claude.com, rate limits, read 2026-11-22). Each model has limits of its own (same page).
//! * How: a bucket that holds one minute's worth, starts full and refills continuously. That the provider counts this
//!   way is an assumption: third parties describe it as a token bucket, and the page warns that a limit may be enforced
//!   over less than a minute. The size of its bucket is not published.
//! * A refused request takes nothing, and is told to retry after the whole seconds until there is room (`retry-after`,
//!   `providers.md` 2.4). A request larger than the bucket is never accepted, and gets no time.
//! * Tokens are known when the request arrives. A provider estimates first and corrects later. Limits on output are not
//!   modelled.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::model::CallError;
use crate::time::{Duration, Instant};
use crate::wire::Usage;
use crate::wire::model::{self, ModelId};

/// What a provider accepts for one model per minute. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests.
    pub requests_per_minute: Option<u64>,
    /// Uncached input tokens.
    pub input_tokens_per_minute: Option<u64>,
    /// Requests before this instant neither count nor are refused.
    pub from: Instant,
}

impl RateLimits {
    /// Whether there is no limit.
    pub const fn is_none(&self) -> bool {
        self.requests_per_minute.is_none() && self.input_tokens_per_minute.is_none()
    }
}

const NANOS_PER_MINUTE: u128 = 60_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A bucket that holds one minute's worth and is refilled per nanosecond. Its contents are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    per_minute: u64,
    /// Its contents, times the nanoseconds of a minute.
    level: u128,
    at: Instant,
}

/// A bucket does not contain enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// When it will, if nothing else is taken; `None` if the bucket cannot hold this much.
    pub enough_after: Option<Duration>,
}

impl Bucket {
    /// A full bucket.
    pub fn full(per_minute: u64, at: Instant) -> Self {
        Self { per_minute, level: u128::from(per_minute) * NANOS_PER_MINUTE, at }
    }

    /// Checks whether `amount` is available.
    ///
    /// # Errors
    /// When it is not, with the time until it is.
    pub fn holds(&mut self, amount: u64, at: Instant) -> Result<(), Short> {
        self.fill(at);
        let wanted = u128::from(amount) * NANOS_PER_MINUTE;
        if wanted <= self.level {
            return Ok(());
        }
        if amount > self.per_minute {
            return Err(Short { enough_after: None });
        }
        // At most the bucket's capacity, so at most the nanoseconds of a minute.
        let after = (wanted - self.level).div_ceil(u128::from(self.per_minute));
        Err(Short { enough_after: Some(Duration(after as u64)) })
    }

    /// Takes `amount`, which it [holds](Self::holds).
    pub fn take(&mut self, amount: u64, at: Instant) {
        self.fill(at);
        self.level -= u128::from(amount) * NANOS_PER_MINUTE;
    }

    fn fill(&mut self, at: Instant) {
        let came = u128::from(at.since(self.at).0) * u128::from(self.per_minute);
        let whole = u128::from(self.per_minute) * NANOS_PER_MINUTE;
        self.level = (self.level + came).min(whole);
        self.at = self.at.max(at);
    }
}

/// Counts requests and tokens of all models of a run.
#[derive(Debug)]
pub(super) struct Meter {
    limits: RateLimits,
    /// For each model: requests, tokens.
    buckets: BTreeMap<Rc<str>, [Option<Bucket>; 2]>,
}

/// The limit as named in a refusal, bucket by bucket.
const COUNTED: [&str; 2] = ["requests", "input tokens"];

impl Meter {
    pub fn new(limits: RateLimits) -> Self {
        Self { limits, buckets: BTreeMap::new() }
    }

    /// Whether requests at `at` count.
    pub fn is_on(&self, at: Instant) -> bool {
        !self.limits.is_none() && at >= self.limits.from
    }

    /// Counts a request of `model`, or refuses it.
    pub fn admit(&mut self, model: &Rc<str>, usage: &Usage, at: Instant) -> Result<(), CallError> {
        let RateLimits { requests_per_minute, input_tokens_per_minute, from } = self.limits;
        let full = |limit: Option<u64>| limit.map(|limit| Bucket::full(limit, from));
        let buckets = self
            .buckets
            .entry(model.clone())
            .or_insert_with(|| [full(requests_per_minute), full(input_tokens_per_minute)]);
        let amounts = [1, counted_tokens(model, usage)];
        for ((bucket, amount), what) in buckets.iter_mut().zip(amounts).zip(COUNTED) {
            if let Some(bucket) = bucket
                && let Err(short) = bucket.holds(amount, at)
            {
                return Err(refusal(bucket.per_minute, what, short));
            }
        }
        for (bucket, amount) in buckets.iter_mut().zip(amounts) {
            if let Some(bucket) = bucket {
                bucket.take(amount, at);
            }
        }
        Ok(())
    }
}

/// Tokens of a request that count towards the limit.
fn counted_tokens(model: &str, usage: &Usage) -> u64 {
    let counts_reads = model::resolve(model).is_some_and(|resolved| resolved.id == ModelId::Haiku35);
    let read = if counts_reads { usage.cache_read_input_tokens } else { 0 };
    usage.input_tokens + usage.cache_creation_input_tokens() + read
}

fn refusal(limit: u64, what: &str, short: Short) -> CallError {
    let whole_seconds = |after: Duration| Duration::from_secs(after.0.div_ceil(NANOS_PER_SECOND));
    CallError::Refused {
        status: 429,
        kind: "rate_limit_error".into(),
        message: format!("this would be more than {limit} {what} per minute").into(),
        retry_after: short.enough_after.map(whole_seconds),
    }
}
