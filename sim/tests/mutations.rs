//! Planted changes: each is found exactly once, at its block and byte, with its cause; harmless changes are not found.

#![allow(clippy::disallowed_methods)] // Captures are files, and the number of cases can be set from outside.

mod captured;
mod case;
mod changes;
mod compared;
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
