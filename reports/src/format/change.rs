//! A change of a prompt, as `forkcast.check/1` and `forkcast.diff/1` tell it alike.

use forkcast_sim::diagnosis::Provider;
use forkcast_sim::guard::{Finding, Unknown};
use serde::Serialize;

use super::number::Usd;
use crate::document::Marked;

/// What, where, why, and what it costs. All words are null where nothing changed.
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
    tokens_lost: Option<u64>,
    tokens_lost_is_upper_bound: bool,
    cost_usd: Option<Usd>,
    cost_usd_per_day: Option<Usd>,
    cost_unknown: Option<&'static str>,
    provider: Option<&'static str>,
    provider_reason: Option<&'static str>,
    suggestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
}

/// What a reader of a change may see, and what would save it.
pub(super) struct Shown {
    /// The change's name as it is shown.
    pub name: String,
    pub suggestion: String,
    pub requests_per_day: Option<u64>,
    /// The bytes may be shown.
    pub windows: bool,
}

impl ChangeObject {
    /// That nothing changed.
    pub(super) fn nothing() -> Self {
        Self { tokens_lost: Some(0), ..Self::default() }
    }

    /// A change as the guard found it.
    pub(super) fn of(finding: &Finding, shown: Shown) -> Self {
        let windows = finding.windows.as_ref().filter(|_| shown.windows);
        Self {
            level: Some(finding.level.name()),
            path: Some(finding.path.clone()),
            name: Some(shown.name),
            offset_in_block: finding.offset_in_block,
            offset_in_prefix: finding.offset_in_prefix,
            offset_range: finding.offset_range,
            cause: Some(finding.cause.word()),
            volatile: finding.volatile.map(|volatile| volatile.word()),
            breaks_prefix: finding.breaks_prefix,
            tokens_lost: finding.tokens_lost(),
            tokens_lost_is_upper_bound: finding.loss.is_some_and(|loss| loss.is_upper_bound),
            cost_usd: finding.cost().map(Usd),
            cost_usd_per_day: shown.requests_per_day.and_then(|requests| finding.cost_per_day(requests)).map(Usd),
            cost_unknown: finding.unknown().map(Unknown::word),
            provider: finding.provider.map(Provider::word),
            provider_reason: finding.provider_reason(),
            suggestion: Some(shown.suggestion),
            window: windows.map(|windows| WindowObject::from(&windows.clone().map(Marked::from))),
        }
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
