//! One request as the client is believed to have sent it.

use forkcast_sim::cache::{Markers, Outcome, Prompt, PromptCache};
use forkcast_sim::service::{Engine, Quote, Times};
use forkcast_sim::wire::{Level, Marker, NodeId, Place, Prefixes, Sizes, Ttl};

/// The role of a breakpoint, so that another placement can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkerRole {
    /// In the system prompt or at its end.
    System,
    /// On the last block of the prompt.
    Tail,
    /// Anywhere else.
    Other,
}

/// A breakpoint and its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchMarker {
    /// The breakpoint.
    pub marker: Marker,
    /// Its role.
    pub role: MarkerRole,
}

impl DispatchMarker {
    /// A breakpoint at the end of `node`, in a prompt with unknown places.
    pub const fn new(node: NodeId, ttl: Ttl, role: MarkerRole) -> Self {
        let level = if matches!(role, MarkerRole::System) { Level::System } else { Level::Messages };
        let place = Place { level, item: 0, part: 0, keys: false };
        Self { marker: Marker { node, ttl, place, automatic: false }, role }
    }
}

/// A request as it reaches a cache, with everything that another cache, lifetime, placement or price needs to know.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// The arena of the session.
    pub prefixes: &'a Prefixes,
    /// Tokens of each prefix.
    pub sizes: &'a dyn Sizes,
    /// The whole prompt.
    pub end: NodeId,
    /// End of the hidden prefix: tools and system prompt.
    pub system_end: NodeId,
    /// The breakpoints in prompt order.
    pub markers: &'a [DispatchMarker],
    /// Tokens of the whole prompt.
    pub total_tokens: u64,
    /// Shortest prefix that is cached, in tokens.
    pub minimum_tokens: u64,
    /// Lifetime at which the request was billed (or that its client asks for).
    pub ttl: Ttl,
    /// Which conversation it belongs to: number of the agent within the session.
    pub agent: usize,
    /// When it was sent, and when its answer came.
    pub times: Times,
    /// The model as spelled.
    pub model: &'a str,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// The client sent it unseen (a suggestion, a title): it acts on the cache and enters no bill.
    pub hidden: bool,
    /// The client sent it for itself on another agent's conversation. Most often that is a compaction; recordings name
    /// suggestions and memories too, and no public one has any.
    pub compacts: bool,
    /// The agent sends nothing after it, which its client knows where it is a sub-agent.
    pub is_last: bool,
    /// Its prices, and what they depend on beside the model, so that another model or another day can be priced.
    pub quote: &'a Quote,
}

impl<'a> Dispatch<'a> {
    /// Its breakpoints without their roles.
    pub fn breakpoints(&self) -> Markers {
        self.markers.iter().map(|sent| sent.marker).collect()
    }

    /// The prompt with `markers` for its breakpoints.
    pub const fn prompt<'m>(&self, markers: &'m [Marker]) -> Prompt<'m>
    where
        'a: 'm,
    {
        Prompt {
            prefixes: self.prefixes,
            markers,
            sizes: self.sizes,
            total_tokens: self.total_tokens,
            minimum_tokens: self.minimum_tokens,
        }
    }

    /// What a cache would give.
    pub fn peek(&self, cache: &dyn PromptCache) -> Outcome {
        cache.peek(&self.prompt(&self.breakpoints()), self.times.at)
    }

    /// Somebody unseen keeps an entry at `node` alive: it can be read from now on.
    pub fn warm(&self, engine: &mut Engine, node: NodeId) {
        let markers = [DispatchMarker::new(node, self.ttl, MarkerRole::Other).marker];
        engine.serve_unseen(&Prompt { minimum_tokens: 0, ..self.prompt(&markers) }, self.times.at);
    }
}
