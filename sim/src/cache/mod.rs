//! Prompt caches that compare prefixes and never see an agent.
//!
//! [`PromptCache`] is the whole interface; [`Rules::open`] is the one place that knows which family rules belong to.
//! [`MarkedCache`] is the family of caches in which the client marks breakpoints (Anthropic); [`Rules`] are its
//! switches with three dated presets. [`refusal`] lists the requests that the provider refuses.

mod line_marks;
mod look_back;
mod markers;
mod minimum;
pub mod refusal;
mod rules;
mod shelf;
mod steps;

pub use look_back::{Positions, look_back};
pub use markers::MarkedCache;
pub use minimum::minimum_tokens;
pub use refusal::Refusal;
pub use rules::{LifetimeClock, LookBack, PRESETS, PositionCount, Refresh, Rules, VisibleFrom};
pub use shelf::Life;
pub use steps::{Step, StepPrompt};

use std::fmt::Debug;

use smallvec::SmallVec;

use crate::time::Instant;
use crate::wire::{Marker, Moved, NodeId, Prefixes, Request, Sizes, Usage};

/// A prompt as a cache sees it.
#[derive(Clone, Copy)]
pub struct Prompt<'a> {
    /// The arena that `markers` point into.
    pub prefixes: &'a Prefixes,
    /// Breakpoints in prompt order, the automatic one included.
    pub markers: &'a [Marker],
    /// Tokens of each prefix.
    pub sizes: &'a dyn Sizes,
    /// Tokens of the whole prompt, including those after the last breakpoint.
    pub total_tokens: u64,
    /// Shortest prefix that is cached at all, in tokens.
    pub minimum_tokens: u64,
}

impl<'a> Prompt<'a> {
    /// `request` as its model's provider treats it.
    pub fn of(prefixes: &'a Prefixes, request: &'a Request, sizes: &'a dyn Sizes, total_tokens: u64) -> Self {
        let minimum_tokens = minimum_tokens(request.resolved.map(|resolved| resolved.id));
        Self { prefixes, markers: &request.markers, sizes, total_tokens, minimum_tokens }
    }

    /// The breakpoints at the end of a prefix that is long enough to be cached.
    pub fn effective(&self) -> Markers {
        let long_enough = |marker: &&Marker| self.sizes.tokens_at(marker.node) >= self.minimum_tokens;
        self.markers.iter().filter(long_enough).copied().collect()
    }
}

/// Breakpoints of one request: no provider takes more than four (Anthropic prompt-caching page, 2026-09).
pub type Markers = SmallVec<[Marker; 4]>;

/// A request in flight, to report the progress of its response to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);

/// Result of a look-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The longest prefix found.
    pub hit: Option<NodeId>,
    /// The last breakpoint that counts: its prefix has at least the minimum length.
    pub last_effective: Option<NodeId>,
    /// Tokens read.
    pub read_tokens: u64,
    /// Tokens written to live five minutes.
    pub write_5m_tokens: u64,
    /// Tokens written to live one hour.
    pub write_1h_tokens: u64,
    /// Tokens that were neither read nor written.
    pub input_tokens: u64,
}

impl Outcome {
    /// How many leading blocks were read.
    pub fn blocks_read(&self, prefixes: &Prefixes) -> usize {
        self.hit.map_or(0, |hit| prefixes.depth(hit) as usize)
    }

    /// The outcome in the provider's words, without output.
    pub const fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            cache_read_input_tokens: self.read_tokens,
            ephemeral_5m_input_tokens: self.write_5m_tokens,
            ephemeral_1h_input_tokens: self.write_1h_tokens,
            output_tokens: 0,
        }
    }
}

/// State of one prefix in a cache at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Never written.
    Absent,
    /// Written, and can be read.
    Live,
    /// Written, and has outlived its lifetime.
    Expired,
    /// Written, and lost before the end of its lifetime.
    Evicted,
    /// Being written: the writer's response has not begun.
    InFlight,
}

/// A prompt cache. Instants never decrease from call to call.
pub trait PromptCache: Debug + Send {
    /// Result of a look-up at `at`, without changing anything.
    fn peek(&self, prompt: &Prompt<'_>, at: Instant) -> Outcome;

    /// Looks the prompt up: refreshes entries that are read, and holds writes back until the response begins.
    fn look_up(&mut self, prompt: &Prompt<'_>, at: Instant) -> (Ticket, Outcome);

    /// The answer's first byte went out.
    fn first_byte(&mut self, prefixes: &Prefixes, ticket: Ticket, at: Instant);

    /// The answer ended.
    fn ended(&mut self, prefixes: &Prefixes, ticket: Ticket, at: Instant);

    /// The request was cancelled. Before its first byte nothing is written.
    fn given_up(&mut self, prefixes: &Prefixes, ticket: Ticket);

    /// State of a prefix at `at`.
    fn state(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> EntryState;

    /// How many leading blocks of a prompt that may never have been sent would be read at `at`.
    fn reads(&self, prefixes: &Prefixes, prompt: &StepPrompt, at: Instant) -> usize;

    /// The prefix `end` and its shorter ones down to `first_depth`, longest first, if a write was ever requested there.
    fn marked(&self, prefixes: &Prefixes, end: NodeId, first_depth: u32) -> Vec<NodeId>;

    /// Last use and lifetime of the entry at a prefix, alive or not; `None` if there is none or they are forgotten.
    fn life(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> Option<Life>;

    /// A copy of the cache over an arena to which these prefixes were moved; entries of other prefixes are dropped.
    fn moved(&self, old: &Prefixes, new: &Prefixes, moved: &Moved) -> Box<dyn PromptCache>;

    /// Serves a request whose answer begins and ends as it is sent.
    fn serve_at_once(&mut self, prompt: &Prompt<'_>, at: Instant) -> Outcome {
        let (ticket, outcome) = self.look_up(prompt, at);
        self.first_byte(prompt.prefixes, ticket, at);
        self.ended(prompt.prefixes, ticket, at);
        outcome
    }

    /// A copy of the cache.
    fn copied(&self) -> Box<dyn PromptCache>;
}

impl Clone for Box<dyn PromptCache> {
    fn clone(&self) -> Self {
        self.copied()
    }
}

impl Rules {
    /// An empty cache of the family that these rules belong to. `seed` matters only if they lose writes by chance.
    pub fn open(&self, seed: u64) -> Box<dyn PromptCache> {
        Box::new(MarkedCache::new(*self, seed))
    }
}
