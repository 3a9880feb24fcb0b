//! Whole runs: agents, a scripted model, a cache, a clock and a bill together.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod acts;
mod limits;
mod provider;
mod runs;
mod same;
mod sizes;
mod stage;
