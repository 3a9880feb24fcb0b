//! Breakpoints that a recorded body does not show as the provider saw them.

use crate::wire::{Level, Marker, Request, Ttl};

/// What is known of a request's breakpoints beside those in its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breakpoints {
    /// They stand as sent.
    #[default]
    AsSent,
    /// The body was altered on its way: they were billed at this lifetime.
    Lifetime(Ttl),
    /// The recording left them out, though the bill shows that there were some: they are taken to stand where clients put
    /// them, behind the system prompt and on the last block. A body that does hold some keeps its own.
    Implied(Ttl),
}

impl Breakpoints {
    /// Puts the breakpoints of `request` so.
    pub(super) fn apply(self, request: &mut Request) {
        match self {
            Self::AsSent => {}
            Self::Lifetime(ttl) => request.markers.iter_mut().for_each(|marker| marker.ttl = ttl),
            Self::Implied(ttl) if request.markers_sent == 0 => imply(request, ttl),
            Self::Implied(_) => {}
        }
    }
}

fn imply(request: &mut Request, ttl: Ttl) {
    let last_block = |end: usize| (0..end).rev().find(|at| request.places.get(*at).is_some_and(|place| !place.keys));
    let ends = [request.level_start(Level::Messages), request.nodes.len()];
    let mut ends: Vec<usize> = ends.into_iter().filter_map(last_block).collect();
    ends.dedup();
    let marker = |at: &usize| Marker { node: request.nodes[*at], ttl, place: request.places[*at], automatic: false };
    request.markers = ends.iter().map(marker).collect();
}
