//! The order and the instants of recorded requests, and the requests that share their cache.
//!
//! Requests with instants of one scope share a cache and are served in order of time; at one instant in an order of files that
//! only their content decides, then by position. A recording without instants has its own cache; its requests are one second
//! apart, each after the first byte of the previous one (only their order is known). Bodies below one named path are one such
//! recording.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use forkcast_sim::service::{STEP, Times};
use forkcast_sim::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use super::scope::{Scope, Scopes};
use crate::exchange::Exchange;
use crate::input::{FileInput, Inputs};

/// Requests that share a cache, in the order in which they reach it.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The scope of the cache.
    pub scope: Scope,
    /// The requests.
    pub requests: Vec<Arrival<'a>>,
}

/// A recorded request with the instants at which it reaches the cache.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The exchange.
    pub exchange: &'a Exchange,
    /// Session: index of its file among all files of the input.
    pub session: usize,
    /// When it was sent, and when its answer came.
    pub times: Times,
}

/// Splits the input into streams, in the order of the input.
pub fn streams(inputs: &Inputs) -> Vec<Stream<'_>> {
    let mut scopes = Scopes::new(inputs.scopes.len());
    let mut found = Vec::new();
    let mut session = 0;
    for (number, input) in inputs.scopes.iter().enumerate() {
        found.push(Stream { scope: scopes.timed(number, &input.name), requests: timed(&input.files, session) });
        for file in &input.files {
            found.push(Stream { scope: scopes.untimed(number, &input.name, file), requests: untimed(file, session) });
            session += 1;
        }
    }
    found.retain(|stream| !stream.requests.is_empty());
    found
}

fn timed(files: &[FileInput], first_session: usize) -> Vec<Arrival<'_>> {
    let mut recordings = Recordings::default();
    for file in files {
        recordings.add(file.exchanges.iter().collect());
    }
    let arrivals = recordings.in_order().filter_map(|(at, exchange)| {
        let times = exchange.times()?;
        Some(Arrival { exchange, session: first_session + at, times })
    });
    arrivals.collect()
}

fn untimed(file: &FileInput, session: usize) -> Vec<Arrival<'_>> {
    let mut at = Instant::default();
    let requests = file.exchanges.iter().filter(|exchange| exchange.sent_at.is_none());
    let arrivals = requests.map(|exchange| {
        at = at + STEP;
        Arrival { exchange, session, times: Times::at_once(at) }
    });
    arrivals.collect()
}

/// Reads a recording again.
type ReadAgain<E> = Box<dyn FnOnce() -> Vec<E>>;

/// A recording whose requests have instants.
struct Recording<E> {
    first: Option<Instant>,
    /// The order of recordings at one instant, which does not depend on the names of files.
    extent: Option<Extent>,
    /// In order of time; empty until it is read again.
    exchanges: VecDeque<E>,
    again: Option<ReadAgain<E>>,
}

/// The recordings of one scope whose requests have instants.
pub(crate) struct Recordings<E>(Vec<Recording<E>>);

impl<E> Default for Recordings<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E: Borrow<Exchange>> Recordings<E> {
    /// Adds the requests of a file.
    pub fn add(&mut self, exchanges: Vec<E>) {
        let exchanges = queue(exchanges);
        let first = exchanges.front().and_then(|exchange| exchange.borrow().sent_at);
        self.0.push(Recording { first, extent: None, exchanges, again: None });
    }

    /// The same for a file that is read again when its first request is due, so that only recordings that overlap are in
    /// memory.
    pub fn put_off(&mut self, exchanges: Vec<E>, again: ReadAgain<E>) {
        self.add(exchanges);
        if let Some(recording) = self.0.last_mut() {
            recording.extent = Some(Extent::of(&recording.exchanges));
            recording.exchanges.clear();
            recording.again = Some(again);
        }
    }

    /// All requests in order of time, then of the contents of files, then of their order; each with the number of its file.
    pub fn in_order(mut self) -> InOrder<E> {
        let is_alone = self.0.iter().filter(|recording| recording.first.is_some()).count() < 2;
        for recording in self.0.iter_mut().filter(|_| !is_alone) {
            recording.extent.get_or_insert_with(|| Extent::of(&recording.exchanges));
        }
        let turns = self.0.iter().enumerate();
        let turns = turns.filter_map(|(at, recording)| Some((recording.first?, recording.extent, at))).collect();
        InOrder { recordings: self.0, turns }
    }
}

/// Requests in order, see [`Recordings::in_order`].
pub(crate) struct InOrder<E> {
    recordings: Vec<Recording<E>>,
    /// When the next request of each recording was sent.
    turns: BTreeSet<(Instant, Option<Extent>, usize)>,
}

impl<E: Borrow<Exchange>> Iterator for InOrder<E> {
    type Item = (usize, E);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (_, extent, at) = self.turns.pop_first()?;
            let recording = &mut self.recordings[at];
            let exchange = match recording.again.take() {
                Some(again) => {
                    recording.exchanges = queue(again());
                    None
                }
                None => recording.exchanges.pop_front(),
            };
            let next = recording.exchanges.front().and_then(|next| next.borrow().sent_at);
            self.turns.extend(next.map(|next| (next, extent, at)));
            if let Some(exchange) = exchange {
                return Some((at, exchange));
            }
        }
    }
}

/// Requests with instants in order of time.
fn queue<E: Borrow<Exchange>>(mut exchanges: Vec<E>) -> VecDeque<E> {
    exchanges.retain(|exchange| exchange.borrow().sent_at.is_some());
    exchanges.sort_by_key(|exchange| (exchange.borrow().sent_at, exchange.borrow().origin.index));
    exchanges.into()
}

/// The order of recordings by content, the most complete first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    exchanges: Reverse<usize>,
    bytes: Reverse<usize>,
    digest: u128,
}

impl Extent {
    fn of<E: Borrow<Exchange>>(exchanges: &VecDeque<E>) -> Self {
        let mut hash = Xxh3::new();
        let mut bytes = 0;
        for exchange in exchanges.iter().map(Borrow::borrow) {
            let instants = (exchange.sent_at, exchange.first_byte_at, exchange.ended_at);
            let whose = (&exchange.model, &exchange.chain, &exchange.parent, &exchange.scope);
            hash.update(format!("{instants:?} {whose:?} {:?} {:?}", exchange.status, exchange.usage).as_bytes());
            hash.update(&exchange.body);
            bytes += exchange.body.len();
        }
        Self { exchanges: Reverse(exchanges.len()), bytes: Reverse(bytes), digest: hash.digest128() }
    }
}
