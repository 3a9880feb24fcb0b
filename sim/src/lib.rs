//! What agents send, what prompt caches remember, what it costs, and why it missed.
//!
//! A pure library: no files, no wall clock, no threads. Modules in reading order:
//!
//! * [`outside`]: what comes from outside, shown and complained about safely.
//! * [`time`]: instants and durations, integers in nanoseconds; the executor on whose clock agents run.
//! * `seed`: named seeds, and draws from them that are the same on every machine.
//! * [`wire`]: requests as blocks, prefixes, breakpoints, usage; the only place where identity bytes are made.
//! * [`cache`]: who remembers. Prompt caches by provider family, each held to a slow twin.
//! * [`pricing`]: what it costs. A dated price book and money in 10⁻¹² USD.
//! * [`diagnosis`]: why it missed. One cause for each token that was sent before and was not read.
//! * [`ledger`]: what happened, request by request; every report is derived from it.
//! * [`service`]: one request in, one entry out; every door, the guard too, asks the cache through it.
//! * `guard`: whether a change broke it. The bytes that consecutive requests must share, and what moved in them.
//! * `model`: who answers: scripts in the place of a model.
//! * `agent`: who asks: a complete agent runtime.
//! * `simulation`: where the two branches meet.
//! * `laws`: what must hold of every run, checked from outside.
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
