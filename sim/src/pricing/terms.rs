//! What the price of a request depends on beside its model.

use super::date::Date;
use super::tier::ServiceTier;
use crate::time::Instant;
use crate::wire::Usage;

/// What a price depends on beside the model and the category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Day of the request; `None` takes the newest prices that have begun by the book's version.
    pub date: Option<Date>,
    /// Instant of the request from the Unix epoch, for prices that depend on the hour; `None` takes those outside peak
    /// hours.
    pub at: Option<Instant>,
    /// The whole prompt: input, reads and writes.
    pub prompt_tokens: u64,
    /// How it was served.
    pub tier: ServiceTier,
    /// Sent with `speed: "fast"`. No batch accepts it, so nothing real has both; asked for both, both apply.
    pub fast: bool,
    /// Sent with `inference_geo: "us"`. Models before 4.6 refuse it, so it changes nothing there.
    pub geo_us: bool,
    /// Sent to a regional endpoint. `inference_geo` belongs to another platform, so with both the larger surcharge
    /// counts once.
    pub regional: bool,
}

impl Terms {
    /// Terms of a request with this usage, all else standard.
    pub fn of(usage: &Usage) -> Self {
        Self { prompt_tokens: usage.total_input_tokens(), ..Self::default() }
    }
}
