//! Recorded exchanges before the what-ifs and the clairvoyant bound: the same prompts in other caches.
//!
//! Requests without instants are included only if nothing that is asked depends on time. Requests that cannot be recomputed
//! (sums over the passes of a server-side tool) stay as recorded in each column.

use forkcast_sim::service::{FRAME_TOKENS, Quote};
use forkcast_sim::wire::{Level, Marker, NodeId, Ttl, Usage};

use super::run::StreamReplay;
use super::sizes::SizedPrompt;
use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole};
use crate::source::order::Arrival;
use crate::what_if::WhatIf;

impl StreamReplay<'_> {
    /// Lets a request act on the caches of the what-ifs. `read_tokens` is what the rules predict.
    pub(super) fn suppose(
        &mut self,
        line: usize,
        sized: &SizedPrompt,
        arrival: &Arrival<'_>,
        usage: &Usage,
        read_tokens: u64,
        quote: &Quote,
    ) {
        let what_ifs = &self.options.what_if;
        let needs_instants = what_ifs.is_empty() || what_ifs.iter().any(WhatIf::needs_instants);
        if needs_instants && !self.scope.timed {
            return;
        }
        let sizes = sized.sizes(&self.wire.prefixes);
        let asked = sized.asked(&self.wire, &sizes, None, arrival.times.at);
        let markers = markers(sized);
        let recorded = arrival.exchange.usage;
        let sent = Dispatch {
            prefixes: &self.wire.prefixes,
            sizes: &sizes,
            end: sized.subject.request.end(),
            system_end: system_end(sized),
            markers: &markers,
            total_tokens: sized.total_tokens,
            minimum_tokens: sized.subject.minimum_tokens,
            ttl: markers.last().map_or(Ttl::FiveMinutes, |marker| marker.marker.ttl),
            agent: sized.whose.lane.chain.0 as usize,
            times: arrival.times,
            model: &sized.subject.request.model,
            output_tokens: usage.output_tokens,
            hidden: false,
            compacts: false,
            is_last: false,
            quote,
        };
        let read = usage.cache_read_input_tokens;
        if let Some(node) = asked.node_of(read).filter(|_| read > read_tokens + FRAME_TOKENS) {
            self.hypotheticals.warm(&sent, node, None);
        }
        let has_line = recorded.is_none_or(|recorded| !recorded.server_passes);
        self.hypotheticals.serve(&sent, has_line.then_some(line));
    }
}

/// The last prefix in front of the messages, or the empty prompt.
fn system_end(sized: &SizedPrompt) -> NodeId {
    let before = sized.subject.request.level_start(Level::Messages).checked_sub(1);
    before.and_then(|at| sized.subject.request.nodes.get(at)).copied().unwrap_or(sized.subject.request.root)
}

fn markers(sized: &SizedPrompt) -> Vec<DispatchMarker> {
    let role = |marker: &Marker| {
        if marker.place.level != Level::Messages {
            MarkerRole::System
        } else if marker.node == sized.subject.request.end() {
            MarkerRole::Tail
        } else {
            MarkerRole::Other
        }
    };
    sized.subject.request.markers.iter().map(|marker| DispatchMarker { marker: *marker, role: role(marker) }).collect()
}
