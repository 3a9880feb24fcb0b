//! The marked family: only breakpoints write, and reads look back from them.
//!
//! Source of the algorithm and of billing by three positions: Anthropic prompt-caching page (2026-09), as quoted in
//! `providers.md` 1.3 and 1.6. Costs grow with the breakpoints and the reach of the look-back, never with the prompt.

use std::cell::Cell;
use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use smallvec::SmallVec;

use super::line_marks::LineMarks;
use super::look_back::stretches;
use super::rules::{LifetimeClock, Refresh, Rules, VisibleFrom};
use super::shelf::{Life, Shelf, ShelfState};
use super::{EntryState, Outcome, Prompt, PromptCache, StepPrompt, Ticket};
use crate::time::Instant;
use crate::wire::{Index, Marker, Moved, NodeId, Prefixes, Ttl};

/// A cache in which the client marks breakpoints.
#[derive(Clone, Debug)]
pub struct MarkedCache {
    rules: Rules,
    shelf: Shelf,
    evicted: Index<NodeId, ()>,
    /// Prefixes at which a write was ever requested.
    marked: LineMarks,
    /// Number of pending writes of each prefix, by number of the prefix.
    in_flight: Vec<u32>,
    under_way: RequestsUnderWay,
    latest: Instant,
    losses: ChaCha8Rng,
    steps_back: Cell<u64>,
}

/// A request whose answer has not ended.
#[derive(Clone, Debug)]
struct UnderWay {
    started: Instant,
    hit: Option<NodeId>,
    writes: Writes,
    /// The first byte of the answer went out.
    answering: bool,
    /// The writes have been applied.
    put: bool,
}

/// Requests by their tickets, which are consecutive numbers: those from the oldest without an end on.
#[derive(Clone, Debug, Default)]
struct RequestsUnderWay {
    first: u64,
    requests: VecDeque<Option<UnderWay>>,
}

impl RequestsUnderWay {
    fn insert(&mut self, request: UnderWay) -> Ticket {
        self.requests.push_back(Some(request));
        Ticket(self.first + self.requests.len() as u64 - 1)
    }

    fn place(&mut self, ticket: Ticket) -> Option<&mut Option<UnderWay>> {
        self.requests.get_mut(usize::try_from(ticket.0.checked_sub(self.first)?).ok()?)
    }

    fn get(&mut self, ticket: Ticket) -> Option<&mut UnderWay> {
        self.place(ticket)?.as_mut()
    }

    fn remove(&mut self, ticket: Ticket) -> Option<UnderWay> {
        let request = self.place(ticket)?.take();
        while let Some(None) = self.requests.front() {
            self.requests.pop_front();
            self.first += 1;
        }
        request
    }
}

/// The pending writes of a request.
type Writes = SmallVec<[Write; 4]>;

/// The pending write of a breakpoint.
#[derive(Clone, Copy, Debug)]
struct Write {
    node: NodeId,
    ttl: Ttl,
    billed: bool,
}

impl MarkedCache {
    /// An empty cache. `seed` matters only if the rules lose writes by chance.
    pub fn new(rules: Rules, seed: u64) -> Self {
        Self {
            rules,
            shelf: Shelf::new(rules.slack),
            evicted: Index::default(),
            marked: LineMarks::default(),
            in_flight: Vec::new(),
            under_way: RequestsUnderWay::default(),
            latest: Instant::default(),
            losses: ChaCha8Rng::seed_from_u64(seed),
            steps_back: Cell::default(),
        }
    }

    /// The switches in force.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Steps of look-backs so far: one for each stretch that counts as one position or none, one for each entry in it.
    /// This is the work of a look-up that must not grow with the prompt.
    pub const fn steps_back(&self) -> u64 {
        self.steps_back.get()
    }

    fn find(&self, prompt: &Prompt<'_>, effective: &[Marker], at: Instant) -> Option<NodeId> {
        let mut found = effective.iter().rev().filter_map(|marker| self.find_from(prompt, marker, at));
        if self.rules.reads_any_ttl {
            // The hit of an earlier breakpoint is never longer.
            return found.next();
        }
        found.max_by_key(|node| prompt.prefixes.depth(*node))
    }

    /// The longest live entry that the look-back from a breakpoint finds.
    fn find_from(&self, prompt: &Prompt<'_>, marker: &Marker, at: Instant) -> Option<NodeId> {
        let step = || self.steps_back.set(self.steps_back.get() + 1);
        for stretch in stretches(prompt.prefixes, marker.node, self.rules.look_back) {
            step();
            for node in self.shelf.written_in(prompt.prefixes, stretch) {
                step();
                if self.serves(prompt, node, marker, at) {
                    return Some(node);
                }
            }
        }
        None
    }

    fn serves(&self, prompt: &Prompt<'_>, node: NodeId, marker: &Marker, at: Instant) -> bool {
        match self.shelf.get(prompt.prefixes, node, at) {
            ShelfState::Alive(life) => self.rules.reads_any_ttl || life.ttl == marker.ttl,
            _ => false,
        }
    }

    fn refresh(&mut self, prefixes: &Prefixes, hit: NodeId, at: Instant) {
        match self.rules.refresh {
            Refresh::Chain => self.shelf.touch_chain(prefixes, hit, at),
            Refresh::HitOnly => self.shelf.touch(prefixes, hit, at),
        }
    }

    /// Applies the writes of a request that `started` earlier; the latest instant decides which entries are alive.
    fn put_writes(&mut self, prefixes: &Prefixes, writes: &[Write], started: Instant) {
        for write in writes {
            self.put(prefixes, *write, started);
        }
    }

    fn put(&mut self, prefixes: &Prefixes, write: Write, started: Instant) {
        let fresh = Life { last_use: started, ttl: write.ttl };
        let life = match self.shelf.get(prefixes, write.node, self.latest) {
            ShelfState::Alive(known) => {
                let lifted = write.billed || self.rules.read_lifts_ttl;
                let ttl = if lifted { known.ttl.max(write.ttl) } else { known.ttl };
                Life { last_use: known.last_use.max(started), ttl }
            }
            _ if self.is_lost() => {
                self.evicted.insert(write.node, ());
                self.shelf.remove(prefixes, write.node);
                return;
            }
            _ => fresh,
        };
        if !self.evicted.is_empty() {
            self.evicted.remove(&write.node);
        }
        self.shelf.put(prefixes, write.node, life);
    }

    fn is_lost(&mut self) -> bool {
        self.rules.loss_per_million > 0 && self.losses.next_u32() % 1_000_000 < self.rules.loss_per_million
    }

    fn land(&mut self, writes: &[Write]) {
        for write in writes {
            self.in_flight[write.node.index()] -= 1;
        }
    }

    fn hold(&mut self, prefixes: &Prefixes, writes: &[Write]) {
        for node in writes.iter().map(|write| write.node) {
            self.marked.insert(prefixes, node);
            let at = node.index();
            if self.in_flight.len() <= at {
                self.in_flight.resize(at + 1, 0);
            }
            self.in_flight[at] += 1;
        }
    }
}

/// Bills by three positions: A, the hit; B, the last one-hour breakpoint after it; C, the last breakpoint.
fn bill(prompt: &Prompt<'_>, effective: &[Marker], hit: Option<NodeId>) -> Outcome {
    let size = |node: NodeId| prompt.sizes.tokens_at(node).min(prompt.total_tokens);
    let a = hit.map_or(0, size);
    let one_hour = effective.iter().rev().find(|marker| marker.ttl == Ttl::OneHour);
    let b = one_hour.map_or(a, |marker| size(marker.node)).max(a);
    let c = effective.last().map_or(a, |marker| size(marker.node)).max(b);
    Outcome {
        hit,
        last_effective: effective.last().map(|marker| marker.node),
        read_tokens: a,
        write_1h_tokens: b - a,
        write_5m_tokens: c - b,
        input_tokens: prompt.total_tokens - c,
    }
}

impl PromptCache for MarkedCache {
    fn peek(&self, prompt: &Prompt<'_>, at: Instant) -> Outcome {
        let effective = prompt.effective();
        bill(prompt, &effective, self.find(prompt, &effective, at))
    }

    fn look_up(&mut self, prompt: &Prompt<'_>, at: Instant) -> (Ticket, Outcome) {
        self.latest = at;
        let effective = prompt.effective();
        let hit = self.find(prompt, &effective, at);
        if let Some(hit) = hit {
            self.refresh(prompt.prefixes, hit, at);
        }
        let read_depth = hit.map_or(0, |hit| prompt.prefixes.depth(hit));
        let write = |marker: &Marker| Write {
            node: marker.node,
            ttl: marker.ttl,
            billed: prompt.prefixes.depth(marker.node) > read_depth,
        };
        let writes: Writes = effective.iter().map(write).collect();
        self.hold(prompt.prefixes, &writes);
        let ticket = self.under_way.insert(UnderWay { started: at, hit, writes, answering: false, put: false });
        if self.rules.visible_from == VisibleFrom::RequestStart {
            self.publish(prompt.prefixes, ticket);
        }
        (ticket, bill(prompt, &effective, hit))
    }

    fn first_byte(&mut self, prefixes: &Prefixes, ticket: Ticket, at: Instant) {
        self.latest = at;
        let Some(request) = self.under_way.get(ticket) else { return };
        request.answering = true;
        if self.rules.visible_from == VisibleFrom::FirstByte {
            self.publish(prefixes, ticket);
        }
    }

    fn ended(&mut self, prefixes: &Prefixes, ticket: Ticket, at: Instant) {
        self.latest = at;
        self.publish(prefixes, ticket);
        let Some(done) = self.under_way.remove(ticket) else { return };
        if self.rules.lifetime_clock == LifetimeClock::ResponseEnd {
            self.restart_clocks(prefixes, &done, at);
        }
    }

    fn given_up(&mut self, prefixes: &Prefixes, ticket: Ticket) {
        let answering = self.under_way.get(ticket).is_some_and(|request| request.answering);
        if answering && self.rules.failed_write_stands {
            self.publish(prefixes, ticket);
            self.under_way.remove(ticket);
        } else if let Some(lost) = self.under_way.remove(ticket) {
            self.take_back(prefixes, &lost);
        }
    }

    fn state(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> EntryState {
        match self.shelf.get(prefixes, node, at) {
            ShelfState::Alive(_) => EntryState::Live,
            _ if self.in_flight.get(node.index()).is_some_and(|waiting| *waiting > 0) => EntryState::InFlight,
            ShelfState::Dead(_) => EntryState::Expired,
            ShelfState::Never if self.evicted.contains(&node) => EntryState::Evicted,
            ShelfState::Never => EntryState::Absent,
        }
    }

    fn reads(&self, prefixes: &Prefixes, prompt: &StepPrompt, at: Instant) -> usize {
        prompt.read(&self.rules, |node| match self.shelf.get(prefixes, node, at) {
            ShelfState::Alive(life) => Some(life.ttl),
            _ => None,
        })
    }

    fn marked(&self, prefixes: &Prefixes, end: NodeId, first_depth: u32) -> Vec<NodeId> {
        self.marked.along(prefixes, end, first_depth).collect()
    }

    fn life(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> Option<Life> {
        match self.shelf.get(prefixes, node, at) {
            ShelfState::Alive(life) => Some(life),
            ShelfState::Dead(life) => life,
            ShelfState::Never => None,
        }
    }

    fn moved(&self, old: &Prefixes, new: &Prefixes, moved: &Moved) -> Box<dyn PromptCache> {
        let mut cache = Self { latest: self.latest, losses: self.losses.clone(), ..Self::new(self.rules, 0) };
        cache.under_way.first = self.under_way.first;
        for (was, is) in moved.iter() {
            match self.shelf.get(old, was, self.latest) {
                ShelfState::Alive(life) | ShelfState::Dead(Some(life)) => cache.shelf.put(new, is, life),
                // Dead for so long that its last use is forgotten.
                ShelfState::Dead(None) => {
                    cache.shelf.put(new, is, Life { last_use: Instant::default(), ttl: Ttl::FiveMinutes });
                }
                ShelfState::Never => {}
            }
            if self.evicted.contains(&was) {
                cache.evicted.insert(is, ());
            }
            if self.marked.contains(was) {
                cache.marked.insert(new, is);
            }
        }
        for request in &self.under_way.requests {
            let request = request.as_ref().map(|request| {
                let writes = request.writes.iter();
                let writes = writes.filter_map(|write| Some(Write { node: moved.get(write.node)?, ..*write }));
                let writes: Writes = writes.collect();
                if !request.put {
                    cache.hold(new, &writes);
                }
                UnderWay { hit: request.hit.and_then(|hit| moved.get(hit)), writes, ..*request }
            });
            cache.under_way.requests.push_back(request);
        }
        Box::new(cache)
    }

    fn copied(&self) -> Box<dyn PromptCache> {
        Box::new(self.clone())
    }
}

impl MarkedCache {
    /// Applies the writes of a request, unless this has happened already.
    fn publish(&mut self, prefixes: &Prefixes, ticket: Ticket) {
        let Some(request) = self.under_way.get(ticket).filter(|request| !request.put) else { return };
        request.put = true;
        // Given back below: a copy for each request would cost more.
        let (writes, started) = (std::mem::take(&mut request.writes), request.started);
        self.land(&writes);
        self.put_writes(prefixes, &writes, started);
        if let Some(request) = self.under_way.get(ticket) {
            request.writes = writes;
        }
    }

    /// Undoes the writes of a request that failed.
    fn take_back(&mut self, prefixes: &Prefixes, lost: &UnderWay) {
        if !lost.put {
            self.land(&lost.writes);
            return;
        }
        for write in lost.writes.iter().filter(|write| write.billed) {
            self.shelf.remove(prefixes, write.node);
        }
    }

    /// Starts lifetimes at the end of a response, including those of entries written by it that expired meanwhile.
    fn restart_clocks(&mut self, prefixes: &Prefixes, done: &UnderWay, at: Instant) {
        for write in &done.writes {
            match self.shelf.get(prefixes, write.node, at) {
                ShelfState::Alive(_) => self.shelf.touch(prefixes, write.node, at),
                ShelfState::Dead(_) => self.shelf.put(prefixes, write.node, Life { last_use: at, ttl: write.ttl }),
                ShelfState::Never => {}
            }
        }
        if let Some(hit) = done.hit {
            self.refresh(prefixes, hit, at);
        }
    }
}
