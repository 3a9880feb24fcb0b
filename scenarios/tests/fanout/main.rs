//! Fan-outs: the runtime, the formula and the bound against each other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod breakeven;
mod formula;
mod limits;
mod wide;
mod worked;
