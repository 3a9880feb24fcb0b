//! Breakpoints of requests that were put together from a log or a trace, which hold none.
//!
//! Where the recorded usage shows that something was read or written, breakpoints did stand somewhere. They are taken to
//! stand where clients put them (behind the system prompt, on the last block), so that a miss is explained by what changed
//! and not by breakpoints that merely were not written down. Such requests are never compared with the rules.

use forkcast_sim::wire::{Level, Marker, Request, Ttl, Usage};

use super::sized::billed_ttl;
use crate::exchange::{Dialect, Exchange};

/// What is said of such a request.
pub(super) const REMARK: &str =
    "the log holds no cache breakpoints: taken to stand behind the system prompt and on the last block";

/// Puts breakpoints where they must have stood; says whether it did. They do not count as sent.
pub(super) fn imply(request: &mut Request, exchange: &Exchange, recorded: Option<Usage>) -> bool {
    let Some(usage) = recorded.filter(|usage| usage.cache_read_input_tokens + usage.cache_creation_input_tokens() > 0)
    else {
        return false;
    };
    if exchange.dialect != Dialect::Rebuilt || request.markers_sent > 0 {
        return false;
    }
    let ttl = billed_ttl(&usage).unwrap_or(Ttl::FiveMinutes);
    let last_block = |end: usize| (0..end).rev().find(|at| request.places.get(*at).is_some_and(|place| !place.keys));
    let mut ends: Vec<usize> =
        [request.level_start(Level::Messages), request.nodes.len()].into_iter().filter_map(last_block).collect();
    ends.dedup();
    let marker = |at: &usize| Marker { node: request.nodes[*at], ttl, place: request.places[*at], automatic: false };
    let markers: Vec<Marker> = ends.iter().map(marker).collect();
    request.markers = markers;
    !request.markers.is_empty()
}
