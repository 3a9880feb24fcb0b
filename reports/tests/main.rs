//! All tests of the reports in one program, but those that measure the heap.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod checks;
mod claims;
mod compactions;
mod contents;
mod explained;
mod fanout;
mod forks;
mod other_models;
mod outline;
mod outside;
mod parts;
mod pictures;
mod plots;
mod runs;
mod schemas;
mod sweeps;
mod tables;
mod transcripts;
mod views;
mod written;
