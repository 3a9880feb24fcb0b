//! What the price of a request depends on, besides its model.

use super::date::Date;
use super::tier::ServiceTier;
use crate::time::Instant;
use crate::wire::Usage;

/// What a price depends on, besides the model and the category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Day of the request; `None` uses the newest prices in force at the book's version.
    pub date: Option<Date>,
    /// Instant of the request since the Unix epoch, for prices that depend on the hour; `None` uses prices outside peak
    /// hours.
    pub at: Option<Instant>,
    /// Size of the whole prompt: input, reads and writes.
    pub prompt_tokens: u64,
    /// The service tier.
    pub tier: ServiceTier,
    /// Sent with `speed: "fast"`. Batches do not accept it, so real requests have only one of them; if both are set,
    /// both apply.
    pub fast: bool,
    /// Sent with `inference_geo: "us"`. Models before 4.6 refuse it, so it has no effect there.
    pub geo_us: bool,
    /// Sent to a regional endpoint. `inference_geo` belongs to another platform; if both are set, only the larger
    /// surcharge applies.
    pub regional: bool,
}

impl Terms {
    /// Standard terms of a request with this usage.
    pub fn of(usage: &Usage) -> Self {
        Self { prompt_tokens: usage.total_input_tokens(), ..Self::default() }
    }
}
