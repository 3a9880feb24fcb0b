//! Chains: the requests of one agent in order.
//!
//! If the input names no agents, a request continues the chain with which it shares most of its message history,
//! aligned from both ends. A changed first tool, a changed system prompt or an edited message is then a break within
//! that chain and does not start a new one.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_64;

use super::block::BlockKind;
use super::index::Index;
use super::intake::Wire;
use super::level::{Level, Role};
use super::request::{ExcludedWhy, Request};

/// A chain, numbered in order of its first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u32);

/// The chain of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The chain.
    pub chain: ChainId,
    /// The request is the first of the chain.
    pub first: bool,
    /// Another chain with an equally long shared history, if only the order decided between the two.
    pub rival: Option<ChainId>,
}

/// The chains of one scope.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    named: BTreeMap<String, ChainId>,
    /// Those without an id.
    open: BTreeMap<ChainId, Open>,
    /// The open chains with each message, as often as they have it.
    holders: Index<u64, Vec<ChainId>>,
    next: u32,
    requests: usize,
}

#[derive(Clone, Debug, Default)]
struct Open {
    messages: Vec<u64>,
    /// The request that these are of: a later one has a higher number.
    number: usize,
}

/// How much an open chain shares with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    messages: usize,
    /// The chain's last request.
    number: usize,
    chain: ChainId,
}

/// Which chains a request without an id may continue.
pub struct Candidates<'a> {
    /// Whether it may continue a chain.
    pub may: &'a dyn Fn(ChainId) -> bool,
    /// Whether it more likely continues this chain than another with which it shares equally much.
    pub is_likely: &'a dyn Fn(ChainId) -> bool,
}

/// Most chains with an equal part that are looked at closely: thousands of conversations may begin with one question.
const COMPARED_MAX: usize = 64;

/// Most occurrences of the last old element that are tried as the end of the shared part.
const END_TRIES: usize = 32;

impl Chains {
    /// Puts a request into its chain: by `id` if the input has one, else by its history.
    pub fn assign(&mut self, id: Option<&str>, request: &Request, wire: &Wire) -> Continuation {
        match id {
            Some(id) => self.assign_named(id),
            None => {
                let any = Candidates { may: &|_| true, is_likely: &|_| false };
                self.follow(request, wire, &any).unwrap_or_else(|| self.begin(request, wire))
            }
        }
    }

    /// Puts a request without an id into the chain with the history that it continues, among `candidates`; `None` without
    /// one.
    pub fn follow(&mut self, request: &Request, wire: &Wire, candidates: &Candidates<'_>) -> Option<Continuation> {
        let messages = message_digests(request, wire);
        let continuation = self.continued(&messages, candidates)?;
        self.end_with(continuation.chain, messages);
        Some(continuation)
    }

    /// The last request of an open chain has these messages.
    fn end_with(&mut self, chain: ChainId, messages: Vec<u64>) {
        self.requests += 1;
        let open = self.open.entry(chain).or_default();
        let same = open.messages.iter().zip(&messages).take_while(|(old, new)| old == new).count();
        for gone in &open.messages[same..] {
            let holders = self.holders.get_or_insert_with(*gone, Vec::new);
            if let Some(at) = holders.iter().position(|holder| *holder == chain) {
                holders.swap_remove(at);
            }
        }
        for new in &messages[same..] {
            self.holders.get_or_insert_with(*new, Vec::new).push(chain);
        }
        *open = Open { messages, number: self.requests };
    }

    /// The open chain that these messages continue, among `candidates`.
    fn continued(&self, messages: &[u64], candidates: &Candidates<'_>) -> Option<Continuation> {
        let is_possible = |share: &Share| (candidates.may)(share.chain);
        let mut shares = self.shares(messages, candidates, shared);
        shares.retain(is_possible);
        if shares.is_empty() {
            shares = self.shares(messages, candidates, shared_anywhere);
            shares.retain(is_possible);
        }
        // A request that continues a whole conversation does not continue one with another beginning, however much they
        // share later.
        let is_whole = |share: &Share| {
            let known = &self.open[&share.chain].messages;
            messages.starts_with(known) && !known.is_empty()
        };
        if shares.iter().any(is_whole) {
            shares.retain(|share| self.open[&share.chain].messages.first() == messages.first());
        }
        // Among chains that share equally much, prefer the one that is repeated completely.
        let is_likely = |share: &Share| (candidates.is_likely)(share.chain);
        shares.sort_by_cached_key(|share| (share.messages, is_whole(share), is_likely(share), share.number));
        let most = shares.pop()?;
        let rival = shares.last().filter(|next| next.messages == most.messages && !is_likely(&most));
        Some(Continuation { chain: most.chain, first: false, rival: rival.map(|rival| rival.chain) })
    }

    /// The open chains that share enough with `messages`; of many, those that share most, the likely and the latest ones.
    fn shares(
        &self,
        messages: &[u64],
        candidates: &Candidates<'_>,
        shared: fn(&[u64], &[u64]) -> Option<usize>,
    ) -> Vec<Share> {
        let holders = messages.iter().filter_map(|message| self.holders.get(message)).flatten();
        let holders: BTreeSet<ChainId> = holders.copied().collect();
        let share = |chain: ChainId| {
            let open = &self.open[&chain];
            Some(Share { messages: shared(&open.messages, messages)?, number: open.number, chain })
        };
        let mut shares: Vec<Share> = holders.into_iter().filter_map(share).collect();
        if shares.len() > COMPARED_MAX {
            let is_likely = |share: &Share| (candidates.is_likely)(share.chain);
            shares.sort_by_cached_key(|share| (share.messages, is_likely(share), share.number));
            shares.drain(..shares.len() - COMPARED_MAX);
        }
        shares
    }

    /// Puts `request`, which has no id, into `chain`, regardless of the history that it continues.
    pub fn resume(&mut self, chain: ChainId, request: &Request, wire: &Wire) -> Continuation {
        self.end_with(chain, message_digests(request, wire));
        Continuation { chain, first: false, rival: None }
    }

    /// Begins a chain with `request`, regardless of the history that it continues.
    pub fn begin(&mut self, request: &Request, wire: &Wire) -> Continuation {
        let chain = self.new_chain();
        self.end_with(chain, message_digests(request, wire));
        Continuation { chain, first: true, rival: None }
    }

    fn assign_named(&mut self, id: &str) -> Continuation {
        if let Some(chain) = self.named.get(id) {
            return Continuation { chain: *chain, first: false, rival: None };
        }
        let chain = self.new_chain();
        self.named.insert(id.to_owned(), chain);
        Continuation { chain, first: true, rival: None }
    }

    fn new_chain(&mut self) -> ChainId {
        let chain = ChainId(self.next);
        self.next += 1;
        chain
    }

    /// Number of chains.
    pub const fn len(&self) -> usize {
        self.next as usize
    }

    /// Whether there are no chains.
    pub const fn is_empty(&self) -> bool {
        self.next == 0
    }
}

/// The common part of two histories, aligned from both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedEnds {
    /// Number of common elements at the beginning.
    pub start: usize,
    /// Length of the longest run after that which ends with the last old element and also occurs in the newer history.
    pub end: usize,
}

impl SharedEnds {
    /// The part of `old` that is in `new`.
    pub fn of<T: PartialEq>(old: &[T], new: &[T]) -> Self {
        let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let old = &old[start..];
        let new = &new[start..];
        let run = |at: usize| old.iter().rev().zip(new[..=at].iter().rev()).take_while(|(old, new)| old == new).count();
        let end = old.last().map_or(0, |last| {
            let ends = (0..new.len()).rev().filter(|at| new[*at] == *last).take(END_TRIES);
            ends.map(run).fold(0, usize::max)
        });
        Self { start, end }
    }

    /// Number of common elements in total.
    pub const fn len(&self) -> usize {
        self.start + self.end
    }

    /// Whether they have nothing in common.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How many messages two histories share, if that is more than half of the shorter one.
fn shared(old: &[u64], new: &[u64]) -> Option<usize> {
    let shared = SharedEnds::of(old, new).len();
    (shared * 2 > old.len().min(new.len())).then_some(shared)
}

/// The same for messages that are in both histories, at any position: a history that changed in several places,
/// including both ends, is recognised by the messages that remain.
fn shared_anywhere(old: &[u64], new: &[u64]) -> Option<usize> {
    let sorted = |messages: &[u64]| {
        let mut sorted = messages.to_vec();
        sorted.sort_unstable();
        sorted
    };
    let old_sorted = sorted(old);
    let new_sorted = sorted(new);
    let mut rest = new_sorted.as_slice();
    let mut both = 0;
    for message in old_sorted {
        rest = &rest[rest.partition_point(|other| *other < message)..];
        if let Some((_, behind)) = rest.split_first().filter(|(first, _)| **first == message) {
            (both, rest) = (both + 1, behind);
        }
    }
    (both * 2 > old.len().min(new.len())).then_some(both)
}

/// A digest for each message, to compare histories with. A collision could only tie two chains together. System text
/// that clients insert (environment, skills, reminders) is no history, because all agents of one kind have the same.
/// Thinking is none either: some models drop it in the next turn, and a question beside the conversation is such a turn.
/// Messages that the provider summarised and the client still sends remain part of its history.
fn message_digests(request: &Request, wire: &Wire) -> Vec<u64> {
    let from = request.level_start(Level::Messages);
    let compacted = request.excluded.iter().filter(|out| out.why == ExcludedWhy::Compacted);
    let compacted = compacted.map(|out| (Some(out.block), out.place));
    let prompt = request.nodes[from..].iter().map(|node| wire.prefixes.block(*node));
    let mut digests = Vec::new();
    // Hashes of the blocks of the current message.
    let mut item = None;
    let mut hashes = Vec::new();
    for (block, place) in compacted.chain(prompt.zip(request.places[from..].iter().copied())) {
        let Some(block) = block.filter(|_| !place.keys) else { continue };
        if wire.blocks.role(block) == Role::System || wire.blocks.kind(block) == BlockKind::Thinking {
            continue;
        }
        if item != Some(place.item) {
            digests.extend(item.replace(place.item).map(|_| xxh3_64(&hashes)));
            hashes.clear();
        }
        // By content and not by id, so that histories outlive the wire into which they were read.
        hashes.extend_from_slice(&wire.blocks.content_hash(block).to_le_bytes());
    }
    digests.extend(item.map(|_| xxh3_64(&hashes)));
    digests
}
