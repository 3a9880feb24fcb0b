//! The agent runtime, by the groups of the behaviour contract; names of tests begin with the ids that they hold.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod shell;
mod stage;
mod world;
