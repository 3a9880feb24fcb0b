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
