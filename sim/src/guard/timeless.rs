//! The cache without time: all requests come at one instant and are answered immediately, so every entry stays.

use crate::cache::{PromptCache, Rules};
use crate::diagnosis::{CacheMoment, Subject};
use crate::time::Instant;
use crate::wire::{Moved, Wire};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct TimelessCache(Box<dyn PromptCache>);

/// The instant of all events.
const AT: Instant = Instant::from_millis(0);

impl TimelessCache {
    /// An empty cache under `rules` that loses nothing by chance.
    pub fn new(rules: &Rules) -> Self {
        Self(Rules { loss_per_million: 0, ..*rules }.open(0))
    }

    /// The cache, to look prompts up in.
    pub fn moment(&self) -> CacheMoment<'_> {
        CacheMoment { cache: &*self.0, at: AT, recorded_read: None }
    }

    /// Lets a request act on the cache, if the provider accepts it. Returns how many of its leading blocks it reads.
    pub fn serve(&mut self, wire: &Wire, subject: &Subject) -> usize {
        if subject.refusal.is_some() {
            return subject.read(wire, &*self.0, AT);
        }
        let sizes = subject.sizes(&wire.prefixes);
        let outcome = self.0.serve_at_once(&subject.prompt(&wire.prefixes, &sizes), AT);
        outcome.blocks_read(&wire.prefixes)
    }

    /// The same over a wire to which these prefixes moved; others are dropped.
    pub fn moved(&self, old: &Wire, new: &Wire, moved: &Moved) -> Self {
        Self(self.0.moved(&old.prefixes, &new.prefixes, moved))
    }
}
