//! Fan-outs: the runtime, the formula and the bound against each other.

mod breakeven;
mod formula;
mod limits;
mod wide;
mod worked;
