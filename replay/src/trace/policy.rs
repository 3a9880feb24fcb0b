//! What a conversation's prompts would have been billed as under policies that know no more than the requests so far.
//!
//! The cache is that of the published figures: a request reads the whole blocks that it shares with the conversation's previous
//! request, if that began within the lifetime; all else is written. Lifetimes count from the start of a request, and every use
//! begins them anew. There are no breakpoints, minimums or look-backs: in a trace of hashes all ids that one request adds are one
//! position, and the end of the previous request is always looked at.

use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Ttl, Usage};

use super::turns::Turn;

/// How prompts are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Not at all.
    NoCache,
    /// Everything for this lifetime.
    Ttl(Ttl),
    /// Everything for five minutes; behind each request the prompt is asked for again, at most `pings` times `every` so often, until
    /// the next request comes. After the last one of a conversation nobody knows that none comes: all pings are sent.
    KeepAlive {
        /// At most so many.
        pings: u32,
        /// So far apart. A ping that would come after the end of the lifetime is not sent.
        every: Duration,
    },
}

/// The usage of each request of one conversation, in its order, without output; with that of the pings behind it, which read the
/// whole prompt.
pub fn usages(turns: &[Turn], policy: Policy) -> Vec<Usage> {
    let mut usages: Vec<Usage> = Vec::with_capacity(turns.len());
    for (at, turn) in turns.iter().enumerate() {
        let next = turns.get(at + 1).and_then(|next| next.gap);
        let sent = pings(policy, next);
        let bridged = turn.gap.is_some_and(|gap| gap <= lifetime(policy, pings(policy, Some(gap))));
        let read = if bridged && policy != Policy::NoCache { turn.kept_tokens } else { 0 };
        let usage = billed(policy, read, turn.input_tokens.saturating_sub(read));
        let pinged = Usage { cache_read_input_tokens: turn.input_tokens.saturating_mul(sent), ..Usage::default() };
        usages.push(usage + pinged);
    }
    usages
}

fn billed(policy: Policy, read: u64, rest: u64) -> Usage {
    let mut usage = Usage { cache_read_input_tokens: read, ..Usage::default() };
    match policy {
        Policy::NoCache => usage.input_tokens = rest,
        Policy::Ttl(Ttl::OneHour) => usage.ephemeral_1h_input_tokens = rest,
        Policy::Ttl(Ttl::FiveMinutes) | Policy::KeepAlive { .. } => usage.ephemeral_5m_input_tokens = rest,
    }
    usage
}

/// How many pings are sent before a request that comes after `gap`, or never.
fn pings(policy: Policy, gap: Option<Duration>) -> u64 {
    let Policy::KeepAlive { pings, every } = policy else { return 0 };
    if every.0 == 0 || every > Ttl::FiveMinutes.duration() {
        return 0;
    }
    let pings = u64::from(pings);
    gap.map_or(pings, |gap| (gap.0.saturating_sub(1) / every.0).min(pings))
}

/// How long a prompt can be read after its request, when so many pings follow it.
fn lifetime(policy: Policy, sent: u64) -> Duration {
    match policy {
        Policy::NoCache => Duration::default(),
        Policy::Ttl(ttl) => ttl.duration(),
        Policy::KeepAlive { every, .. } => Duration(every.0.saturating_mul(sent)) + Ttl::FiveMinutes.duration(),
    }
}
