//! What a check found, in every form that it is told in: whole, valid, and without a word of the prompts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "checks/captures.rs"]
mod captures;
#[path = "checks/folded.rs"]
mod folded;
#[path = "checks/junit.rs"]
mod junit;
#[path = "checks/sarif.rs"]
mod sarif;
#[path = "checks/silence.rs"]
mod silence;
#[path = "checks/told.rs"]
mod told;
