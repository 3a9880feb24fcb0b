//! Compares runtime, formula and bound of fan-outs.

mod breakeven;
mod formula;
mod limits;
mod wide;
mod worked;
