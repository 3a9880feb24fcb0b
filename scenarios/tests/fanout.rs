//! Compares runtime, formula and bound of fan-outs.

mod breakeven;
mod formula;
mod limits;
mod spawned;
mod wide;
mod worked;
