//! Lifetimes, states and spans in words.

use forkcast_sim::cache::EntryState;
use forkcast_sim::wire::Ttl;

pub(super) const fn lifetime(ttl: Ttl) -> &'static str {
    match ttl {
        Ttl::FiveMinutes => "5 minutes",
        Ttl::OneHour => "1 hour",
    }
}

pub(super) const fn state(state: EntryState) -> &'static str {
    match state {
        EntryState::Absent => "never written",
        EntryState::Live => "can be read",
        EntryState::Expired => "expired",
        EntryState::Evicted => "lost",
        EntryState::InFlight => "being written",
    }
}

/// `4 min 12 s`, `3 h 5 min`, `0.4 s`.
pub(super) fn span(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..MINUTE => format!("{} s", ms / 1_000),
        MINUTE..HOUR => format!("{} min {} s", ms / MINUTE, ms % MINUTE / 1_000),
        _ => format!("{} h {} min", ms / HOUR, ms % HOUR / MINUTE),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn spans_have_two_units_at_most() {
        assert_eq!([400, 12_000, 252_000, 11_100_000].map(span), ["400 ms", "12 s", "4 min 12 s", "3 h 5 min"]);
    }
}
