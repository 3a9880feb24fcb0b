//! A change of a prompt, as `forkcast.check/1` and `forkcast.diff/1` tell it alike.

use forkcast_sim::diagnosis::{Cause, Provider, Volatile};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Level;
use serde::Serialize;

use super::number::Usd;
use crate::document::Marked;

/// What, where, why, and what it costs. Everything is null where nothing changed.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ChangeObject {
    level: Option<&'static str>,
    path: Option<String>,
    name: Option<String>,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    cause: Option<&'static str>,
    volatile: Option<&'static str>,
    breaks_prefix: bool,
    offset_range: Option<[u64; 2]>,
    tokens_lost: u64,
    tokens_lost_is_upper_bound: bool,
    cost_usd: Option<Usd>,
    cost_usd_per_day: Option<Usd>,
    provider: Option<&'static str>,
    provider_reason: Option<&'static str>,
    suggestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
}

/// Where a change stands.
pub(super) struct Where {
    pub level: Level,
    pub path: String,
    /// Its name as it is shown.
    pub name: String,
    pub offset_in_block: Option<u64>,
    pub offset_in_prefix: Option<u64>,
    pub offset_range: Option<[u64; 2]>,
}

/// What a change costs.
#[derive(Clone, Copy)]
pub(super) struct Loss {
    pub breaks_prefix: bool,
    pub tokens: u64,
    /// At most so many: digests do not show more.
    pub is_upper_bound: bool,
    pub cost: Option<Money>,
    pub cost_per_day: Option<Money>,
}

impl ChangeObject {
    /// A change that `provider` would diagnose, if it does so at all.
    pub(super) fn new(
        place: Where,
        (cause, volatile): (Cause, Option<Volatile>),
        provider: Option<Provider>,
        loss: Loss,
    ) -> Self {
        Self {
            level: Some(place.level.name()),
            offset_in_block: place.offset_in_block,
            offset_in_prefix: place.offset_in_prefix,
            offset_range: place.offset_range,
            name: Some(place.name),
            cause: Some(cause.word()),
            volatile: volatile.map(|volatile| volatile.word()),
            breaks_prefix: loss.breaks_prefix,
            tokens_lost: loss.tokens,
            tokens_lost_is_upper_bound: loss.is_upper_bound,
            cost_usd: loss.cost.map(Usd),
            cost_usd_per_day: loss.cost_per_day.map(Usd),
            provider: provider.map(Provider::word),
            provider_reason: provider.and_then(|provider| provider.reason(cause, &place.path)),
            path: Some(place.path),
            suggestion: None,
            window: None,
        }
    }

    /// The same with what would save it, and with the bytes where they may be shown.
    pub(super) fn with(self, suggestion: String, window: Option<WindowObject>) -> Self {
        Self { suggestion: Some(suggestion), window, ..self }
    }
}

/// The bytes around a difference.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WindowObject {
    older: String,
    newer: String,
}

impl From<&[Marked; 2]> for WindowObject {
    fn from([older, newer]: &[Marked; 2]) -> Self {
        Self { older: older.whole(), newer: newer.whole() }
    }
}
