//! In which order, when and beside what the recorded requests reach a cache.
//!
//! Requests with instants of one scope share a cache and are served in order of time; at one instant file by file, in an order
//! that the content of the files decides, whatever they are called; then by position.
//! A recording without instants has a cache of its own; its requests are taken one second apart, each after the first
//! byte of the one before (their order is the only thing known). Bodies below one named path are one such recording.

use std::cmp::Reverse;

use forkcast_sim::service::{STEP, Times};
use forkcast_sim::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use crate::exchange::Exchange;
use crate::formats::Format;
use crate::input::{FileInput, Inputs, ScopeInput};

/// Requests that share a cache, in the order in which they reach it.
#[derive(Debug)]
pub struct Stream<'a> {
    /// Name of the cache scope: unique, and the same for the same input.
    pub scope: String,
    /// The requests.
    pub requests: Vec<Scheduled<'a>>,
    /// The instants are recorded and not made up.
    pub timed: bool,
    /// Its agents are of one run: bodies of one folder.
    pub siblings: bool,
}

/// A recorded request with the instants at which it reaches the cache.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<'a> {
    /// The exchange.
    pub exchange: &'a Exchange,
    /// Session: index of its file among all files of the input.
    pub session: usize,
    /// When it was sent, and when its answer came.
    pub times: Times,
}

/// Cuts the input into streams, in the order of the input.
pub fn streams(inputs: &Inputs) -> Vec<Stream<'_>> {
    let mut found = Vec::new();
    let mut session = 0;
    for scope in &inputs.scopes {
        let timed = timed(scope, session);
        if !timed.requests.is_empty() {
            found.push(timed);
        }
        for file in &scope.files {
            let untimed = untimed(scope, file, session);
            if !untimed.requests.is_empty() {
                found.push(untimed);
            }
            session += 1;
        }
    }
    found
}

fn timed(scope: &ScopeInput, first_session: usize) -> Stream<'_> {
    let mut requests: Vec<Scheduled<'_>> = Vec::new();
    for (step, file) in scope.files.iter().enumerate() {
        requests.extend(file.exchanges.iter().filter_map(|exchange| {
            let at = exchange.sent_at?;
            let times = Times::of(at, exchange.first_byte_at, exchange.ended_at);
            Some(Scheduled { exchange, session: first_session + step, times })
        }));
    }
    requests.sort_by_key(|request| (request.times.at, request.session, request.exchange.origin.index));
    let meet = |pair: &[Scheduled<'_>]| pair[0].times.at == pair[1].times.at && pair[0].session != pair[1].session;
    if requests.windows(2).any(meet) {
        let extents: Vec<Extent> = scope.files.iter().map(|file| Extent::of(&file.exchanges)).collect();
        let of_file = |request: &Scheduled<'_>| extents.get(request.session - first_session).copied();
        requests.sort_by_key(|request| {
            (request.times.at, of_file(request), request.session, request.exchange.origin.index)
        });
    }
    Stream { scope: scope.name.clone(), requests, timed: true, siblings: false }
}

/// What a recording holds, whatever its file is called; the most complete first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extent {
    exchanges: Reverse<usize>,
    bytes: Reverse<usize>,
    digest: u128,
}

impl Extent {
    pub fn of(exchanges: &[Exchange]) -> Self {
        let bytes = exchanges.iter().map(|exchange| exchange.body.len()).sum();
        Self { exchanges: Reverse(exchanges.len()), bytes: Reverse(bytes), digest: digest(exchanges) }
    }
}

fn digest(exchanges: &[Exchange]) -> u128 {
    let mut hash = Xxh3::new();
    for exchange in exchanges {
        let instants = (exchange.sent_at, exchange.first_byte_at, exchange.ended_at);
        let whose = (&exchange.model, &exchange.chain, &exchange.parent, &exchange.scope);
        hash.update(format!("{instants:?} {whose:?} {:?} {:?}", exchange.status, exchange.usage).as_bytes());
        hash.update(&exchange.body);
    }
    hash.digest128()
}

fn untimed<'a>(scope: &ScopeInput, file: &'a FileInput, session: usize) -> Stream<'a> {
    let mut at = Instant::default();
    let requests = file.exchanges.iter().filter(|exchange| exchange.sent_at.is_none()).map(|exchange| {
        at = at + STEP;
        Scheduled { exchange, session, times: Times::at_once(at) }
    });
    Stream {
        scope: format!("{}\u{0}{}", scope.name, file.file),
        requests: requests.collect(),
        timed: false,
        siblings: file.format == Format::Bodies,
    }
}
