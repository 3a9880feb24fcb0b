//! Breakpoints: where a request asks the provider to cache its prefix.

use std::fmt;

use super::level::Place;
use super::prefix::NodeId;
use crate::outside::words;
use crate::time::Duration;

words! {
    /// Minimum lifetime of a written prefix.
    ///
    /// Source: Anthropic prompt-caching page, "1-hour cache duration" (2026-09).
    ///
    /// ```
    /// use forkcast_sim::wire::Ttl;
    ///
    /// assert_eq!(Ttl::OneHour.name(), "1h");
    /// assert_eq!(Ttl::OneHour.duration().as_millis(), 3_600_000);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Ttl {
        /// `5m`, the default.
        FiveMinutes = "5m",
        /// `1h`.
        OneHour = "1h",
    }
}

impl Ttl {
    /// The lifetime as a span.
    pub const fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_secs(300),
            Self::OneHour => Duration::from_secs(3_600),
        }
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A breakpoint of a request. It belongs to the request and is no part of a prefix's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The prefix that ends with the marked block.
    pub node: NodeId,
    /// Lifetime asked for.
    pub ttl: Ttl,
    /// Position of the marked block in the body.
    pub place: Place,
    /// Set by the top-level `cache_control`, not on a block.
    pub automatic: bool,
}
