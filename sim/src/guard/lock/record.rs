//! Records requests in a lock.

use std::collections::BTreeMap;

use super::block::{Block, anonymised};
use super::pool::Pool;
use super::{Breakpoint, Chain, Excluded, Lock, Locked, Node, NodeAt};
use crate::pricing::{Money, Rates};
use crate::wire::{BlockId, Index, Level, Place, Request, Usage, Wire};

/// Content of a lock.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Name of the cache rules.
    pub preset: String,
    /// Version of the price book.
    pub prices: String,
    /// Include the text of blocks.
    pub show_content: bool,
    /// Replace names of tools and agents by ids.
    pub anonymous: bool,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord<'a> {
    /// Name of its chain.
    pub chain: &'a str,
    /// Name of the chain that started its chain, if the input shows it.
    pub parent: Option<&'a str>,
    /// The wire into which it was read.
    pub wire: &'a Wire,
    /// Number of that wire: each wire has a new one.
    pub arena: u64,
    /// The request.
    pub request: &'a Request,
    /// Tokens of each of its prefixes.
    pub cumulative: &'a [u64],
    /// The usage that it is expected to have.
    pub usage: Usage,
    /// Its cost.
    pub cost: Option<Money>,
    /// Its prices.
    pub rates: Option<Rates>,
}

/// Makes a lock. Holds the lock, and the path of each chain's last request.
#[derive(Debug, Default)]
pub struct Recorder {
    recording: Recording,
    pool: Pool,
    by_name: BTreeMap<String, usize>,
    /// Blocks of the wire with number `arena`.
    known: Index<BlockId, u32>,
    arena: u64,
    /// In step with the chains of the lock.
    latest: Vec<Vec<Step>>,
}

/// A step of a path: block and place in the wire, and the resulting node.
#[derive(Clone, Copy, Debug)]
struct Step {
    block: BlockId,
    place: Place,
    node: NodeAt,
}

impl Recorder {
    /// An empty recorder.
    pub fn new(recording: Recording) -> Self {
        let Recording { preset, prices, anonymous, .. } = recording.clone();
        let mut recorder = Self { recording, ..Self::default() };
        recorder.pool.lock = Lock { preset, prices, anonymous, ..Lock::default() };
        recorder
    }

    /// Number of requests taken.
    pub fn requests(&self) -> usize {
        self.pool.lock.requests()
    }

    /// Takes a request. Costs one step for each of its blocks, and a digest for each new one.
    pub fn take(&mut self, seen: &RequestRecord<'_>) {
        if seen.arena != self.arena {
            self.arena = seen.arena;
            self.known = Index::default();
            self.latest.iter_mut().for_each(Vec::clear);
        }
        let chain = self.chain(seen);
        let path = self.path(seen, chain);
        let excluded = self.excluded(seen);
        let request = Locked { excluded, ..self.locked(seen, &path) };
        self.latest[chain] = path;
        self.pool.lock.chains[chain].requests.push(request);
    }

    /// The lock.
    pub fn finish(self) -> Lock {
        self.pool.lock
    }

    fn chain(&mut self, seen: &RequestRecord<'_>) -> usize {
        let shown = |name: &str| match self.recording.anonymous {
            true => anonymised("agent", name),
            false => name.to_owned(),
        };
        if let Some(at) = self.by_name.get(seen.chain) {
            return *at;
        }
        let at = self.pool.lock.chains.len();
        let chain = Chain { name: shown(seen.chain), parent: seen.parent.map(shown), requests: Vec::new() };
        self.pool.lock.chains.push(chain);
        self.latest.push(Vec::new());
        self.by_name.insert(seen.chain.to_owned(), at);
        at
    }

    /// The path of a request; the part that equals its chain's last one needs no look-ups.
    fn path(&mut self, seen: &RequestRecord<'_>, chain: usize) -> Vec<Step> {
        let last = std::mem::take(&mut self.latest[chain]);
        let mut path: Vec<Step> = Vec::with_capacity(seen.request.nodes.len());
        let mut follows = true;
        let mut before = 0;
        for ((node, place), end) in seen.request.nodes.iter().zip(&seen.request.places).zip(seen.cumulative) {
            let tokens = end.saturating_sub(before);
            before = *end;
            let Some(block) = seen.wire.prefixes.block(*node).filter(|block| !is_hidden(seen.wire, *block)) else {
                continue;
            };
            let expected = last.get(path.len()).filter(|step| follows && step.block == block && step.place == *place);
            follows = expected.is_some();
            let node = match expected {
                Some(step) => step.node,
                None => self.node(path.last().map(|step| step.node), seen.wire, block, *place, tokens),
            };
            path.push(Step { block, place: *place, node });
        }
        path
    }

    fn node(&mut self, parent: Option<NodeAt>, wire: &Wire, id: BlockId, place: Place, tokens: u64) -> NodeAt {
        let block = self.block(wire, id);
        self.pool.node(Node { parent, block, place, tokens })
    }

    fn block(&mut self, wire: &Wire, id: BlockId) -> u32 {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let block = Block::of(wire, id, self.recording.show_content, self.recording.anonymous);
        let at = self.pool.block(block);
        self.known.insert(id, at);
        at
    }

    fn excluded(&mut self, seen: &RequestRecord<'_>) -> Vec<Excluded> {
        let excluded = seen.request.excluded.iter();
        excluded
            .map(|found| Excluded { block: self.block(seen.wire, found.block), place: found.place, why: found.why })
            .collect()
    }

    fn locked(&self, seen: &RequestRecord<'_>, path: &[Step]) -> Locked {
        let held = |place: &Place| path.iter().any(|step| step.place == *place);
        let breakpoints = seen.request.markers.iter().filter(|marker| held(&marker.place));
        Locked {
            model: seen.request.model.clone(),
            levels: self.pool.levels(&path.iter().map(|step| step.node)),
            request: self.pool.lock.requests(),
            blocks: path.len(),
            breakpoints: breakpoints
                .map(|marker| Breakpoint { path: marker.place.to_string(), ttl: marker.ttl })
                .collect(),
            usage: seen.usage,
            cost: seen.cost.filter(|_| seen.request.has_modelled_cache()),
            rates: seen.rates,
            maker: seen.request.maker,
            addresses: seen.request.addresses.clone(),
            end: path.last().map(|step| step.node),
            ..Locked::default()
        }
    }
}

/// The prefix that a transcript does not show: a lock begins after it.
fn is_hidden(wire: &Wire, block: BlockId) -> bool {
    // No canonical JSON begins with a zero byte.
    wire.blocks.level(block) != Level::Messages && wire.blocks.bytes(block).first() == Some(&0)
}
