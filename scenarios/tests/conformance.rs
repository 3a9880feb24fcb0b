//! What our own forks and others' send, put through the conformance suite.

mod capture;
mod clients;
mod faults;
mod rule;
mod runtime;
