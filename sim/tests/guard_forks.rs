//! Forks and siblings on the wire: who is whose kin, and what is found where one does not share what it should.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "guard_forks/briefs.rs"]
mod briefs;
#[path = "guard_forks/family.rs"]
mod family;
#[path = "guard_forks/inherited.rs"]
mod inherited;
#[path = "guard_forks/strangers.rs"]
mod strangers;
