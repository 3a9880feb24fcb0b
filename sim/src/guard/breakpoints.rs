//! Breakpoints that the provider used but a recorded body does not show.

use crate::wire::{Level, Marker, Request, Ttl};

/// Facts about a request's breakpoints besides those in its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breakpoints {
    /// They are as sent.
    #[default]
    AsSent,
    /// The body was altered in transit: breakpoints were billed at this lifetime.
    Lifetime(Ttl),
    /// The recording left them out, though the bill shows that there were some. They are assumed where clients set
    /// them, after the system prompt and on the last block. A body that has breakpoints keeps them.
    Implied(Ttl),
    /// The provider sets them itself: after the system prompt, at the end of the first message and at the ends of the
    /// latest ones. This is how `OpenAI` looks for prefixes of models since GPT-5.6 (prompt-caching guide, 2026-09);
    /// earlier models keep every prefix, rounded down to 128 tokens.
    Automatic,
}

/// How many ends of messages `OpenAI` checks: the latest and up to 20 before it (prompt-caching guide, 2026-09).
const MESSAGE_ENDS_MAX: usize = 21;

impl Breakpoints {
    /// Sets the breakpoints of `request` accordingly.
    pub fn apply(self, request: &mut Request) {
        match self {
            Self::AsSent => {}
            Self::Lifetime(ttl) => request.markers.iter_mut().for_each(|marker| marker.ttl = ttl),
            Self::Implied(ttl) if request.markers_sent == 0 => imply(request, ttl),
            Self::Implied(_) => {}
            Self::Automatic => automatic(request),
        }
    }
}

fn imply(request: &mut Request, ttl: Ttl) {
    let last_block = |end: usize| (0..end).rev().find(|at| request.places.get(*at).is_some_and(|place| !place.keys));
    let ends = [request.level_start(Level::Messages), request.nodes.len()];
    let mut ends: Vec<usize> = ends.into_iter().filter_map(last_block).collect();
    ends.dedup();
    mark(request, &ends, ttl);
}

fn automatic(request: &mut Request) {
    let head = request.level_start(Level::Messages);
    let is_end = |at: &usize| request.places.get(at + 1).is_none_or(|next| next.item != request.places[*at].item);
    let ends: Vec<usize> = (head..request.nodes.len()).filter(is_end).collect();
    let latest = &ends[ends.len().saturating_sub(MESSAGE_ENDS_MAX)..];
    let mut marked: Vec<usize> = head.checked_sub(1).into_iter().chain(ends.first().copied()).collect();
    marked.extend(latest);
    marked.dedup();
    mark(request, &marked, Ttl::FiveMinutes);
}

/// Sets breakpoints on the blocks with these indices, and on no others.
fn mark(request: &mut Request, ends: &[usize], ttl: Ttl) {
    let marker = |at: &usize| Marker { node: request.nodes[*at], ttl, place: request.places[*at], automatic: false };
    request.markers = ends.iter().map(marker).collect();
}
