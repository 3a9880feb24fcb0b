//! Usage in the provider's words.

use forkcast_sim::wire::Usage;

use crate::record::{Record, Value};
use crate::report::Side;

/// Written tokens by lifetime.
struct CacheCreation(Usage);

record! {
    CacheCreation, "cache_creation":
    tokens "ephemeral_5m_input_tokens", "Written for five minutes." => |usage| usage.0.ephemeral_5m_input_tokens;
    tokens "ephemeral_1h_input_tokens", "Written for an hour." => |usage| usage.0.ephemeral_1h_input_tokens;
}

record! {
    Usage, "usage":
    tokens "input_tokens", "Input that was neither read nor written." =>
        |usage| usage.input_tokens, shown("in full"), if_wide();
    tokens "cache_read_input_tokens", "Input that was read from the cache." =>
        |usage| usage.cache_read_input_tokens, shown("read"), if_wide();
    tokens "cache_creation_input_tokens", "Input that was written to the cache." =>
        |usage| usage.cache_creation_input_tokens(), shown("written"), if_wide();
    record: CacheCreation, "cache_creation", "Written tokens, by lifetime." =>
        |usage| CacheCreation(*usage).value(), bare();
    tokens "output_tokens", "The answer." => |usage| usage.output_tokens;
}

record! {
    /// `recorded` and `predicted`: usage with its cost and hit rate.
    Side, "side":
    flat: Usage, => |side| side.usage.value();
    usd "cost_usd", "The bill." => |side| side.cost, null(NO_PRICE);
    share "hit_rate", HIT_RATE => |side| side.usage.hit_rate(), null(NO_INPUT);
}

/// The definition of a hit rate.
pub(super) const HIT_RATE: &str = "Input that was read over all input.";

/// When there is none.
pub(super) const NO_INPUT: &str = "if there is no input";

/// When there is no bill.
pub(super) const NO_PRICE: &str = "if nothing has a price";

/// A lifetime of the cache.
pub(super) const TTLS: [&str; 2] = ["5m", "1h"];

/// The usage that is known of something.
pub(super) fn value(usage: Option<&Usage>) -> Value {
    usage.map_or(Value::Null, Record::value)
}
