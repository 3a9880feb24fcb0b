//! All tests of the core in one program, because each further program would be linked separately.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may panic.

#[cfg(feature = "runtime")]
mod agent;
mod caches;
mod coverage;
mod diagnosis;
#[cfg(feature = "runtime")]
mod forks;
#[cfg(feature = "runtime")]
mod git;
mod growth;
#[cfg(feature = "guard")]
mod guard;
#[cfg(feature = "guard")]
mod guard_forks;
mod house;
#[cfg(feature = "runtime")]
mod laws;
mod ledger;
#[cfg(feature = "guard")]
mod lock;
#[cfg(feature = "runtime")]
mod model;
mod mutations;
mod pricing;
#[cfg(feature = "runtime")]
mod seed;
#[cfg(feature = "runtime")]
mod simulation;
#[cfg(feature = "runtime")]
mod time;
mod tries;
mod wire;
