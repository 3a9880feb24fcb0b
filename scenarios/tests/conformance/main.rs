//! What our own forks and others' send, put through the conformance suite.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod capture;
mod clients;
mod faults;
mod rule;
mod runtime;
