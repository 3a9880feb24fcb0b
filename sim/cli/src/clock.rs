//! The clock of this machine: for windows before now, the rest of a block of five hours, and the age of prices.

use forkcast_sim::time::Instant;

/// Now. `SOURCE_DATE_EPOCH` (seconds since 1970) replaces the clock where output must repeat.
pub fn now() -> Instant {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.trim().parse::<i64>().ok());
    let fixed = fixed.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let now = fixed.unwrap_or_else(jiff::Timestamp::now);
    Instant::from_millis(now.as_millisecond().max(0).unsigned_abs())
}
