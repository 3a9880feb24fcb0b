//! All tests of the scenarios except the catalog, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may panic.

mod bytes;
mod capture;
mod cast;
mod conformance;
mod events;
mod fanout;
mod gate;
mod mistakes;
mod orders;
mod otherwise;
mod outcomes;
mod planted;
mod round_trip;
mod sizes;
mod sweep;
