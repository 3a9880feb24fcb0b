//! Runs our own forks and those of others through the conformance suite.

mod capture;
mod clients;
mod faults;
mod rule;
mod runtime;
mod thinking;
