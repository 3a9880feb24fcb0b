//! Usage in the provider's words.

use forkcast_sim::wire::Usage;
use serde::Serialize;

use super::number::Usd;
use crate::report::Side;

/// Written tokens by lifetime.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CacheCreation {
    /// Written for five minutes.
    pub ephemeral_5m_input_tokens: u64,
    /// Written for an hour.
    pub ephemeral_1h_input_tokens: u64,
}

impl From<&Usage> for CacheCreation {
    fn from(usage: &Usage) -> Self {
        Self {
            ephemeral_5m_input_tokens: usage.ephemeral_5m_input_tokens,
            ephemeral_1h_input_tokens: usage.ephemeral_1h_input_tokens,
        }
    }
}

/// The object `usage`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UsageObject {
    /// Neither read nor written.
    pub input_tokens: u64,
    /// Read.
    pub cache_read_input_tokens: u64,
    /// Written.
    pub cache_creation_input_tokens: u64,
    /// The same by lifetime.
    pub cache_creation: CacheCreation,
    /// The answer.
    pub output_tokens: u64,
}

impl From<&Usage> for UsageObject {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens(),
            cache_creation: usage.into(),
            output_tokens: usage.output_tokens,
        }
    }
}

/// Columns of usage in tables.
pub(super) const COLUMNS: [&str; 5] = [
    "input_tokens",
    "cache_read_input_tokens",
    "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens",
    "output_tokens",
];

/// What stands in these columns; empty where there is no usage.
pub(super) fn cells(usage: Option<&Usage>) -> [String; 5] {
    usage.map_or_else(Default::default, |usage| {
        [
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.ephemeral_5m_input_tokens,
            usage.ephemeral_1h_input_tokens,
            usage.output_tokens,
        ]
        .map(|tokens| tokens.to_string())
    })
}

/// `recorded` and `predicted`: the usage fields with money and hit rate beside them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SideObject {
    input_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_creation: CacheCreation,
    output_tokens: u64,
    cost_usd: Option<Usd>,
    hit_rate: Option<f64>,
}

impl From<&Side> for SideObject {
    fn from(side: &Side) -> Self {
        let usage = UsageObject::from(&side.usage);
        Self {
            input_tokens: usage.input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_creation: usage.cache_creation,
            output_tokens: usage.output_tokens,
            cost_usd: side.cost.map(Usd),
            hit_rate: side.usage.hit_rate(),
        }
    }
}
