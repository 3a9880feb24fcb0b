//! The cache receives exactly what the agent sent.

use crate::seed::{Draws, Seed};
use crate::simulation::{Lookup, Observer};
use crate::wire::{NormalForms, Wire};

/// One request in this many is rendered and read again.
const ONE_IN: u64 = 100;

/// The path that the cache receives is as deep as the request is long. For a seeded sample, the body is also rendered,
/// read by a separate wire, and its canonical blocks are compared byte by byte with those of the cache. The sample is
/// one request in each hundred, starting with the very first request, as long as no more blocks are read again than were
/// ever new: siblings of a wide fan-out have thousands in common.
#[derive(Debug)]
pub struct Identity {
    forms: NormalForms,
    draws: Draws,
    /// Requests of the current hundred so far.
    asked: u64,
    /// Which request of the current hundred is read again.
    chosen: u64,
    /// Blocks that had never been sent before, less those that were read again.
    blocks_left: usize,
}

impl Identity {
    /// The law under `forms`.
    pub fn new(forms: NormalForms, seed: &Seed) -> Self {
        Self { forms, draws: seed.draws(), asked: 0, chosen: 0, blocks_left: 0 }
    }

    /// Whether the next request is read again.
    fn is_chosen(&mut self) -> bool {
        if self.asked == ONE_IN {
            (self.asked, self.chosen) = (0, self.draws.below(ONE_IN));
        }
        self.asked += 1;
        self.asked == self.chosen + 1
    }

    /// Reads the request again and compares it with what the cache received.
    fn compare(&self, seen: &Lookup<'_>) -> Result<(), String> {
        let body = seen.draft.body();
        let mut wire = Wire::for_one_body(self.forms, body.len());
        let again = wire.read(&body, "", "").map_err(|error| format!("request {}: its body: {error}", seen.line))?;
        if again.nodes.len() != seen.request.nodes.len() {
            let sent = again.nodes.len();
            let given = seen.request.nodes.len();
            return Err(format!("request {}: {sent} blocks were sent, but the cache received {given}", seen.line));
        }
        for (at, (sent, given)) in again.nodes.iter().zip(&seen.request.nodes).enumerate() {
            let sent = wire.prefixes.block(*sent).map(|block| wire.blocks.bytes(block));
            let given = seen.wire.prefixes.block(*given).map(|block| seen.wire.blocks.bytes(block));
            if sent != given {
                let place = again.places[at];
                return Err(format!("request {}: the block at {place} is not the one that was sent", seen.line));
            }
        }
        let places = |request: &crate::wire::Request| -> Vec<_> {
            request.markers.iter().map(|marker| (marker.place, marker.ttl)).collect()
        };
        let same = places(&again) == places(seen.request);
        if same { Ok(()) } else { Err(format!("request {}: breakpoints moved between agent and cache", seen.line)) }
    }
}

impl Observer for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let prefixes = &seen.wire.prefixes;
        let deep = prefixes.depth(seen.request.end()) - prefixes.depth(seen.request.root);
        if deep as usize != seen.request.nodes.len() {
            return Err(format!(
                "request {}: its path is {deep} blocks deep, but the request has another length",
                seen.line
            ));
        }
        self.blocks_left += seen.request.nodes.len() - seen.request.known;
        let rest = self.blocks_left.checked_sub(seen.request.nodes.len());
        let is_chosen = self.is_chosen();
        match rest.filter(|_| is_chosen) {
            Some(rest) => {
                self.blocks_left = rest;
                self.compare(seen)
            }
            None => Ok(()),
        }
    }
}
