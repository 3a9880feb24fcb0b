//! Recorded exchanges before the what-ifs and the clairvoyant bound: the same prompts in other caches.
//!
//! Only requests with instants, since lifetimes are what most of them ask about. What cannot be told otherwise (sums over the
//! passes of a server-side tool) stays as recorded in each column.

use forkcast_sim::service::FRAME_TOKENS;
use forkcast_sim::wire::{Level, Marker, NodeId, Ttl, Usage};

use super::price::Priced;
use super::run::Run;
use super::sized::Sized;
use crate::rebuild::{MarkerRole, Sent, SentMarker};
use crate::schedule::Scheduled;
use crate::what_if::Hypothetical;

impl Run<'_> {
    /// Lets a request act on the caches of the what-ifs. `read_tokens` is what the rules predict.
    pub(super) fn suppose(
        &mut self,
        line: usize,
        sized: &Sized,
        scheduled: &Scheduled<'_>,
        (usage, read_tokens): (&Usage, u64),
        priced: &Priced,
    ) {
        if !self.timed {
            return;
        }
        let sizes = sized.sizes(&self.wire.prefixes);
        let asked = sized.asked(&self.wire, &sizes, None, scheduled.times.at);
        let markers = markers(sized);
        let recorded = scheduled.exchange.usage;
        let sent = Sent {
            prefixes: &self.wire.prefixes,
            sizes: &sizes,
            end: sized.request.end(),
            system_end: system_end(sized),
            markers: &markers,
            total_tokens: sized.total_tokens,
            minimum_tokens: sized.minimum_tokens,
            ttl: markers.last().map_or(Ttl::FiveMinutes, |marker| marker.marker.ttl),
            agent: sized.whose.chain.0 as usize,
            times: scheduled.times,
            model: &sized.request.model,
            output_tokens: usage.output_tokens,
            hidden: false,
            is_last: false,
            rates: priced.rates.as_ref(),
            terms: priced.terms,
            fees: &priced.fees,
        };
        let read = usage.cache_read_input_tokens;
        if let Some(node) = asked.node_of(read).filter(|_| read > read_tokens + FRAME_TOKENS) {
            self.supposed.warm(&sent, node, None);
        }
        if recorded.is_some_and(|recorded| recorded.server_passes) {
            self.supposed.serve(&sent, None);
            let cost = priced.rates.map(|rates| rates.bill(usage, &priced.fees).total);
            let columns = self.options.what_if.len();
            self.as_recorded.push((line, vec![Hypothetical { usage: *usage, cost }; columns]));
        } else {
            self.supposed.serve(&sent, Some(line));
        }
    }
}

/// The last prefix in front of the messages, or the empty prompt.
fn system_end(sized: &Sized) -> NodeId {
    let before = sized.request.level_start(Level::Messages).checked_sub(1);
    before.and_then(|at| sized.request.nodes.get(at)).copied().unwrap_or(sized.request.root)
}

fn markers(sized: &Sized) -> Vec<SentMarker> {
    let role = |marker: &Marker| {
        if marker.place.level != Level::Messages {
            MarkerRole::System
        } else if marker.node == sized.request.end() {
            MarkerRole::Tail
        } else {
            MarkerRole::Other
        }
    };
    sized.request.markers.iter().map(|marker| SentMarker { marker: *marker, role: role(marker) }).collect()
}
