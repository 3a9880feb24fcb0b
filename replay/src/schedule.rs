//! In which order, when and beside what the recorded requests reach a cache.
//!
//! Requests with instants of one scope share a cache and are served in order of time, then file, then position.
//! A file without instants has a cache of its own; its requests are taken one second apart, each after the first byte
//! of the one before (the order in the file is the only thing known).

use forkcast_sim::time::{Duration, Instant};

use crate::exchange::Exchange;
use crate::input::{Inputs, ScopeInput};

/// Requests that share a cache, in the order in which they reach it.
#[derive(Debug)]
pub struct Stream<'a> {
    /// Name of the cache scope: unique, and the same for the same input.
    pub scope: String,
    /// The requests.
    pub requests: Vec<Scheduled<'a>>,
    /// The instants are recorded and not made up.
    pub timed: bool,
}

/// A recorded request with the instants at which it reaches the cache.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<'a> {
    /// The exchange.
    pub exchange: &'a Exchange,
    /// Session: index of its file among all files of the input.
    pub session: usize,
    /// When it was sent.
    pub at: Instant,
    /// When its answer began.
    pub first_byte_at: Instant,
    /// When its answer ended.
    pub ended_at: Instant,
}

/// Where the first byte is not recorded it is taken to come so long after the request, or at the end of the answer if
/// that is earlier: about what large prompts take (captured Claude Code requests of 2026-08 end after 0.8 to 60 s).
const FIRST_BYTE_AFTER: Duration = Duration::from_secs(2);

/// Distance of requests without instants.
const STEP: Duration = Duration::from_secs(1);

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
            let untimed = untimed(scope, &file.file, &file.exchanges, session);
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
            Some(Scheduled { session: first_session + step, ..with_times(exchange, at) })
        }));
    }
    requests.sort_by_key(|request| (request.at, request.session, request.exchange.origin.index));
    Stream { scope: scope.name.clone(), requests, timed: true }
}

/// A request that was sent at `at`, with the instants of its answer.
pub(crate) fn with_times(exchange: &Exchange, at: Instant) -> Scheduled<'_> {
    let guess = at + FIRST_BYTE_AFTER;
    let ended_at = exchange.ended_at.unwrap_or(guess).max(at);
    let first_byte_at = exchange.first_byte_at.unwrap_or_else(|| guess.min(ended_at)).clamp(at, ended_at);
    Scheduled { exchange, session: 0, at, first_byte_at, ended_at }
}

fn untimed<'a>(scope: &ScopeInput, file: &str, exchanges: &'a [Exchange], session: usize) -> Stream<'a> {
    let mut at = Instant::default();
    let requests = exchanges.iter().filter(|exchange| exchange.sent_at.is_none()).map(|exchange| {
        at = at + STEP;
        Scheduled { exchange, session, at, first_byte_at: at, ended_at: at }
    });
    Stream { scope: format!("{}\u{0}{file}", scope.name), requests: requests.collect(), timed: false }
}
