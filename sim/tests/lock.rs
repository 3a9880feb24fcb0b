//! The lock: what its text holds, how it is read back, and what differs from it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "lock/differences.rs"]
mod differences;
#[path = "lock/figures.rs"]
mod figures;
#[path = "lock/fuzzed.rs"]
mod fuzzed;
#[path = "lock/mistakes.rs"]
mod mistakes;
#[path = "lock/mutated.rs"]
mod mutated;
#[path = "lock/stage.rs"]
mod stage;
#[path = "lock/text.rs"]
mod text;
#[path = "lock/updates.rs"]
mod updates;
