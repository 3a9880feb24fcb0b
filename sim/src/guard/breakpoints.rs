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
    /// latest ones. This is how `OpenAI` looks for prefixes of models since GPT-5.6 (prompt-caching guide, 2026-09).
    /// Earlier models, and other providers, keep every prefix, rounded down to some tokens: for them also after each
    /// block of the newest message, whose end may not be sent again.
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
    if !looks_at_message_ends(&request.model) {
        let newest = request.places.last().copied();
        let is_of_newest = |at: &usize| newest.is_some_and(|last| request.places[*at].is_of_message(last.item));
        marked.extend((head..request.nodes.len()).filter(is_of_newest));
        marked.sort_unstable();
    }
    marked.dedup();
    mark(request, &marked, Ttl::FiveMinutes);
}

/// The first model for which `OpenAI` looks at ends of messages only: GPT-5.6.
const LOOKS_AT_ENDS_SINCE: (u32, u32) = (5, 6);

/// See [`Breakpoints::Automatic`]; `model` is a name in any spelling.
pub(super) fn looks_at_message_ends(model: &str) -> bool {
    // The second number of `gpt-5-2025-08-07` is none of its version.
    let version = model.split_once("gpt-").and_then(|(_, version)| version.split('-').next());
    let Some(version) = version else { return false };
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
    numbers.next().map(|major| (major, numbers.next().map_or(0, |minor| minor))) >= Some(LOOKS_AT_ENDS_SINCE)
}

/// Sets breakpoints on the blocks with these indices, and on no others.
fn mark(request: &mut Request, ends: &[usize], ttl: Ttl) {
    let marker = |at: &usize| Marker { node: request.nodes[*at], ttl, place: request.places[*at], automatic: false };
    request.markers = ends.iter().map(marker).collect();
}
