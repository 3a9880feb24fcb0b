//! What the cache was given is what was sent.

use crate::seed::{Draws, Seed};
use crate::simulation::{Observer, Seen};
use crate::wire::{NormalForms, Wire};

/// One request in so many is rendered and read again, and the first one.
const ONE_IN: u64 = 100;

/// Longer requests are read again more seldom, in proportion: reading one takes time by the byte, and beside a run that
/// takes time by what is new it would grow without end. With this length (about 20,000 tokens) all laws together stay
/// below a tenth of a run's time; a request of 1 MiB is read again once in 1,600.
const OFTEN_UP_TO_BYTES: u64 = 64 << 10;

/// The path that the cache was given ends as deep as it is long; and of a seeded sample the body is rendered, read by a
/// wire of its own, and its canonical blocks are compared as bytes with those that the cache was given. The sample is one
/// request in a hundred, and less of requests beyond 64 KiB.
#[derive(Debug)]
pub struct Identity {
    forms: NormalForms,
    draws: Draws,
}

impl Identity {
    /// The law under `forms`.
    pub fn new(forms: NormalForms, seed: &Seed) -> Self {
        Self { forms, draws: seed.draws() }
    }

    fn compare(&self, seen: &Seen<'_>) -> Result<(), String> {
        let mut wire = Wire::new(self.forms);
        let body = seen.draft.body();
        let again = wire.read(&body, "", "").map_err(|error| format!("request {}: its body: {error}", seen.line))?;
        if again.nodes.len() != seen.request.nodes.len() {
            let (sent, given) = (again.nodes.len(), seen.request.nodes.len());
            return Err(format!("request {}: {sent} blocks were sent, the cache was given {given}", seen.line));
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

    fn served(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let prefixes = &seen.wire.prefixes;
        let deep = prefixes.depth(seen.request.end()) - prefixes.depth(seen.request.root);
        if deep as usize != seen.request.nodes.len() {
            return Err(format!("request {}: its path is {deep} deep and has another length", seen.line));
        }
        // Out of bytes, so that nothing is rounded.
        let one_in = ONE_IN * seen.request.body_bytes.max(OFTEN_UP_TO_BYTES);
        if seen.line == 0 || self.draws.below(one_in) < OFTEN_UP_TO_BYTES { self.compare(seen) } else { Ok(()) }
    }
}
