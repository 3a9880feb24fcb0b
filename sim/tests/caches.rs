//! The prompt-cache emulator: against a slow twin in random conversations, and against a corpus of cases from
//! documents, recordings and issues.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "caches/corpus.rs"]
mod corpus;
#[path = "caches/losses.rs"]
mod losses;
#[path = "caches/notation.rs"]
mod notation;
#[path = "caches/pair.rs"]
mod pair;
#[path = "caches/plan.rs"]
mod plan;
#[path = "caches/play.rs"]
mod play;
#[path = "caches/properties.rs"]
mod properties;
#[path = "caches/script.rs"]
mod script;
#[path = "caches/switches.rs"]
mod switches;
#[path = "caches/twin.rs"]
mod twin;
