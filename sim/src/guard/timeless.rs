//! The cache without time: all requests come at one instant and are answered immediately, so every entry stays.

use crate::cache::{Prompt, PromptCache, Rules};
use crate::diagnosis::{CacheMoment, Subject};
use crate::time::Instant;
use crate::wire::{Moved, PathSizes, Wire};

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
        CacheMoment { cache: &*self.0, at: AT }
    }

    /// Lets a request act on the cache, if the provider accepts it. Returns how many of its leading blocks it reads.
    pub fn serve(&mut self, wire: &Wire, subject: &Subject) -> usize {
        if subject.refusal.is_some() {
            return self.moment().read(wire, &subject.prompt(wire));
        }
        let sizes = PathSizes::new(&wire.prefixes, &subject.request.nodes, &subject.cumulative);
        let prompt = Prompt::of(&wire.prefixes, &subject.request, &sizes, subject.total_tokens());
        let prompt = Prompt { minimum_tokens: subject.minimum_tokens, ..prompt };
        let (ticket, outcome) = self.0.look_up(&prompt, AT);
        self.0.first_byte(&wire.prefixes, ticket, AT);
        self.0.ended(&wire.prefixes, ticket, AT);
        outcome.hit.map_or(0, |hit| wire.prefixes.depth(hit) as usize)
    }

    /// The same over a wire to which these prefixes moved; others are dropped.
    pub fn moved(&self, old: &Wire, new: &Wire, moved: &Moved) -> Self {
        Self(self.0.moved(&old.prefixes, &new.prefixes, moved))
    }
}
