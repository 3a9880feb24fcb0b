//! Planted changes: each is found, once, at its block and byte, by its cause; what is harmless is not found.
//!
//! `cargo test -p forkcast-sim --no-default-features --features guard --test all mutations:: -- --nocapture` prints the tables.
//! `FORKCAST_CASES` sets how many conversations each kind of change is planted in.

#![allow(clippy::disallowed_methods)] // Captures stand in files, and cases can be widened from outside.

mod captured;
mod case;
mod changes;
mod compared;
mod dice;
mod generated;
mod json;
mod judged;
mod kinds;
#[cfg(feature = "guard")]
mod locked;
mod prompt;
mod reminders;
mod tally;
mod twin;
#[cfg(feature = "guard")]
mod twins;
#[cfg(feature = "guard")]
mod watched;
