//! The lock: prefixes that were sent, as digests in a small text that people review.
//!
//! * [`Recorder`] makes a [`Lock`] of requests as they come; [`Lock::text`] and [`Lock::parse`] are its text.
//! * [`equality()`] compares a newer lock with the pinned one: which block, which 256 bytes of it, and why.
//! * [`sharing()`]: siblings that share less than they did; [`budget`]: figures above the expected cost.
//! * [`changes()`] lists the changes of an update of the lock and their cost; [`reviewed()`] is the lock with some of
//!   them.
//!
//! It contains no text of a prompt unless requested: for each block its kind, path, name, size and digests. It takes as
//! much memory as the lock: shared parts of requests are stored once.

mod block;
mod changes;
mod digest;
mod entry;
mod equality;
mod figures;
mod matching;
mod outline;
mod parse;
mod pool;
mod print;
mod record;
mod review;
mod sharing;

use std::sync::Arc;

use crate::pricing::{Money, Rates};
use crate::wire::{Addresses, ExcludedWhy, Level, Maker, PART_BYTES, Place, Ttl, Usage};

pub use block::Block;
pub use changes::{Change, Changes, changes};
pub use digest::Digest;
pub use equality::{Equality, equality};
pub use figures::budget;
pub use parse::BadLock;
pub use record::{Recorder, Recording, RequestRecord};
pub use review::reviewed;
pub use sharing::sharing;

/// The version of the text that is written and read.
pub const VERSION: u64 = 1;

/// Canonical bytes that one digest covers: the precision of offsets.
pub const CHUNK_BYTES: u64 = PART_BYTES as u64;

/// Written instead of the digests of 256 bytes if the content was not kept.
const NO_CHUNKS: &str = "-";

/// Prefixes that were sent.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// Name of the cache rules under which usage was expected.
    pub preset: String,
    /// Version of the price book.
    pub prices: String,
    /// Names of tools and agents are replaced by ids.
    pub anonymous: bool,
    /// Chains in order of their first requests.
    pub chains: Vec<Chain>,
    blocks: Vec<Block>,
    nodes: Vec<Node>,
}

/// The requests of one agent.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// Its name, as in the check's output.
    pub name: String,
    /// The chain that started it, if the input shows it.
    pub parent: Option<String>,
    /// Its requests in order.
    pub requests: Vec<Locked>,
}

/// One request.
#[derive(Clone, Debug, Default)]
pub struct Locked {
    /// The model as spelled.
    pub model: String,
    /// Digest of each level, in the order of [`Level::ALL`]; `None` for a level without blocks.
    pub levels: [Option<Digest>; 3],
    /// Its place among all requests, counted from zero; for a lock read from a text, its place in the text.
    pub request: usize,
    /// Number of blocks of its prompt.
    pub blocks: usize,
    /// Breakpoints in prompt order.
    pub breakpoints: Vec<Breakpoint>,
    /// The usage that the request is expected to have.
    pub usage: Usage,
    /// Its cost; `None` for a model without a price or with a cache that is not modelled.
    pub cost: Option<Money>,
    /// Its prices; known for requests that were just recorded, never for those read from a text.
    pub rates: Option<Rates>,
    /// The provider with the rules that it follows; only known for requests that were just recorded.
    pub maker: Maker,
    /// Positions of its parts in the body that was sent, if its paths are those of a translation; known for requests
    /// that were just recorded, never for those read from a text.
    pub addresses: Option<Arc<Addresses>>,
    /// Blocks that are no part of the prompt; known for requests that were just recorded.
    excluded: Vec<Excluded>,
    end: Option<NodeAt>,
}

/// A block outside the prompt.
#[derive(Clone, Copy, Debug)]
struct Excluded {
    block: u32,
    place: Place,
    why: ExcludedWhy,
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Path of its block.
    pub path: String,
    /// Lifetime asked for.
    pub ttl: Ttl,
}

/// A block of a prompt at its place.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The block.
    pub block: &'a Block,
    /// Position in the body.
    pub place: Place,
    /// Its tokens.
    pub tokens: u64,
    at: NodeAt,
}

/// Index of a node.
type NodeAt = u32;

/// A prefix: a shorter one, and the block after it.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: Option<NodeAt>,
    block: u32,
    place: Place,
    tokens: u64,
}

impl Chain {
    /// The expected cost of all its requests; `None` if none has one.
    pub fn cost(&self) -> Option<Money> {
        self.requests.iter().filter_map(|request| request.cost).reduce(|sum, cost| sum + cost)
    }

    /// The share of input tokens that its requests are expected to read; `None` if their cache is not modelled.
    pub fn hit_rate(&self) -> Option<f64> {
        hit_rate(self.requests.iter())
    }
}

/// The expected hit rate of requests with a modelled cache.
fn hit_rate<'a>(requests: impl Iterator<Item = &'a Locked>) -> Option<f64> {
    let modelled = requests.filter(|request| request.has_modelled_cache());
    modelled.fold(Usage::default(), |sum, request| sum + request.usage).hit_rate()
}

impl Lock {
    /// Number of its requests.
    pub fn requests(&self) -> usize {
        self.chains.iter().map(|chain| chain.requests.len()).sum()
    }

    /// The chain called `name`.
    pub fn chain(&self, name: &str) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.name == name)
    }

    /// The prompt of a request of this lock, block by block. Costs one step for each block.
    pub fn prompt(&self, request: &Locked) -> Vec<Placed<'_>> {
        let mut found = Vec::with_capacity(request.blocks);
        let mut next = request.end;
        while let Some(at) = next {
            let node = &self.nodes[at as usize];
            let block = &self.blocks[node.block as usize];
            found.push(Placed { block, place: node.place, tokens: node.tokens, at });
            next = node.parent;
        }
        found.reverse();
        found
    }

    /// The expected cost of all its requests; `None` if none has one.
    pub fn cost(&self) -> Option<Money> {
        self.chains.iter().filter_map(Chain::cost).reduce(|sum, cost| sum + cost)
    }

    /// The share of input tokens that its requests are expected to read; `None` if no cache of theirs is modelled.
    pub fn hit_rate(&self) -> Option<f64> {
        hit_rate(self.chains.iter().flat_map(|chain| &chain.requests))
    }
}

impl Locked {
    /// Whether the cache rules of its provider are modelled; only known for requests that were just recorded.
    pub fn has_modelled_cache(&self) -> bool {
        self.maker.has_modelled_cache()
    }

    /// Position of the part at `path` in the body that was sent.
    fn sent_at(&self, path: &str) -> String {
        self.addresses.as_ref().map_or_else(|| path.to_owned(), |addresses| addresses.translate(path))
    }

    /// Whether both sent the same prompt to the same model, comparing only `levels`.
    fn is_same(&self, other: &Self, levels: &[Level]) -> bool {
        let same = |level: &Level| self.levels[*level as usize] == other.levels[*level as usize];
        self.model == other.model && levels.iter().all(same)
    }
}
