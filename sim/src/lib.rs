//! Simulates the requests of agents and the prompt caches that serve them; explains cost and cache misses.
//!
//! A pure library: no files, no wall clock, no threads. Modules in reading order:
//!
//! * [`outside`]: text from outside, shown and reported safely.
//! * [`time`]: instants and durations in integer nanoseconds; the executor and its virtual clock.
//! * `seed`: named seeds, and draws from them that are the same on every machine.
//! * [`wire`]: requests as blocks, prefixes, breakpoints, usage; the only place where identity bytes are made.
//! * [`cache`]: prompt caches by provider family, each tested against a slow reference implementation.
//! * [`pricing`]: a dated price book, and money in 10⁻¹² USD.
//! * [`diagnosis`]: one cause for each token that was sent before and not read.
//! * [`ledger`]: what happened, request by request; every report is derived from it.
//! * [`service`]: one request in, one entry out; all uses of the cache, including the guard, go through it.
//! * `guard`: checks whether a change broke caching: the bytes that consecutive requests must share, and what moved in
//!   them.
//! * `model`: scripts that answer instead of a model.
//! * `agent`: a complete agent runtime, which sends the requests.
//! * `simulation`: joins agents with cache and ledger.
//! * `laws`: invariants of every run, checked from outside.
//!
//! Imports go down this list only (a later module may use an earlier one); `tests/house.rs` holds the table.

pub mod outside;

pub mod time;

#[cfg(feature = "runtime")]
pub mod seed;

pub mod wire;

pub mod cache;

pub mod pricing;

pub mod diagnosis;

pub mod ledger;

pub mod service;

#[cfg(feature = "guard")]
pub mod guard;

#[cfg(feature = "runtime")]
pub mod model;

#[cfg(feature = "runtime")]
pub mod agent;

#[cfg(feature = "runtime")]
pub mod simulation;

#[cfg(feature = "runtime")]
pub mod laws;
