//! Instants and durations as integers, and an executor with its own clock. No floats, and no machine clock.
//!
//! The executor (feature `runtime`) runs plain async code: [`run`] passes it a [`Handle`], the only interface of a
//! runtime that is needed. The channels and locks of `tokio::sync` work on it. If part of a task waits for something
//! long, as an agent does for another one, it waits through a [`Part`].

#[cfg(feature = "runtime")]
mod executor;
#[cfg(feature = "runtime")]
mod handle;
#[cfg(feature = "runtime")]
mod part;
#[cfg(feature = "runtime")]
mod plan;
#[cfg(feature = "runtime")]
mod ready;
#[cfg(feature = "runtime")]
mod select;
#[cfg(feature = "runtime")]
mod task;
#[cfg(feature = "runtime")]
mod tasks;
#[cfg(feature = "runtime")]
mod timers;
#[cfg(feature = "runtime")]
mod waiting;

use std::fmt;
use std::ops::{Add, Sub};

#[cfg(feature = "runtime")]
pub use self::{
    executor::run,
    handle::{Handle, Runtime, Sleep, YieldNow},
    part::Part,
    plan::{Finished, Limits, Plan, Stopped, Waits},
    task::{Aborted, Task},
    tasks::Turns,
    waiting::Waiting,
};
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use tokio; // For the macro in `select.rs`, wherever it is used.

/// A point in time in nanoseconds since an epoch: the Unix epoch for recordings, the start of the run for
/// simulations. The two are never mixed within one cache.
///
/// ```
/// use forkcast_sim::time::{Duration, Instant};
///
/// let (sent, answered) = (Instant::from_millis(1_500), Instant::from_millis(4_000));
/// assert_eq!(answered.since(sent), Duration::from_millis(2_500));
/// assert_eq!(sent.since(answered), Duration::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Instant(pub u64);

/// A span of time in nanoseconds.
///
/// ```
/// use forkcast_sim::time::Duration;
///
/// assert_eq!(Duration::from_secs(300), Duration(300_000_000_000));
/// assert_eq!(Duration::from_secs(300).as_millis(), 300_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Duration(pub u64);

const NANOS_PER_MILLI: u64 = 1_000_000;

impl Instant {
    /// The instant `ms` milliseconds after the epoch, at most the largest instant.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(NANOS_PER_MILLI))
    }

    /// Whether it has a day. The clocks of runs and of some traces begin at zero, and none of them lasts a year.
    pub const fn has_day(self) -> bool {
        self.0 >= 365 * 24 * 60 * 60 * 1_000 * NANOS_PER_MILLI
    }

    /// Time since `earlier`; zero if that is in the future.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// `ms` milliseconds, at most the largest duration.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(NANOS_PER_MILLI))
    }

    /// `s` seconds, at most the largest duration.
    pub const fn from_secs(s: u64) -> Self {
        Self::from_millis(s.saturating_mul(1_000))
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MILLI
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Duration {
    /// Seconds without trailing zeros: `300s`, `0.25s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0 / 1_000_000_000;
        let nanos = self.0 % 1_000_000_000;
        if nanos == 0 {
            return write!(f, "{whole}s");
        }
        let decimals = format!("{nanos:09}");
        write!(f, "{whole}.{}s", decimals.trim_end_matches('0'))
    }
}
