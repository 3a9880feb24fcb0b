//! `forkcast lock` and `forkcast check` as their users meet them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "check/bodies.rs"]
mod bodies;
#[path = "check/examples.rs"]
mod examples;
#[path = "check/found.rs"]
mod found;
#[path = "check/inputs.rs"]
mod inputs;
#[path = "check/locked.rs"]
mod locked;
#[path = "check/packaged.rs"]
mod packaged;
#[path = "check/stopped.rs"]
mod stopped;
#[path = "check/twins.rs"]
mod twins;
#[path = "check/unsaid.rs"]
mod unsaid;
#[path = "check/words.rs"]
mod words;
