//! All tests of the program from the command line, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may panic.

mod browser;
mod check;
mod commands;
mod compare;
mod data;
mod examples;
mod explain;
mod exports;
mod fanout;
mod logs;
mod pages;
mod prices;
mod program;
mod readme;
mod run;
mod sizes;
mod start;
mod sweep;
