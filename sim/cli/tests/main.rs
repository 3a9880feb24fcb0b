//! All tests of the program as its users meet it, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod check;
mod commands;
mod explain;
mod fanout;
mod pages;
mod prices;
mod program;
mod readme;
mod run;
mod sizes;
mod sweep;
