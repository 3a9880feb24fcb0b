//! Claims about agents, one YAML file each: a world, a script, and what must come out.
//!
//! Modules in reading order:
//!
//! * [`format`](mod@format): a scenario as it is written, and everything that can be wrong with it.
//! * [`load`]: from there to what a simulation is given.
//! * [`run`]: what came of it.
//! * [`expect`]: whether that is what was expected.
//! * [`golden`]: the same as text that is kept beside the scenario.
//! * [`catalog`]: the scenarios that are built in.
//! * [`capture`]: its requests as a proxy would have seen them, for the prefix guard.
//! * [`fanout`]: what fan-out costs, as a run and as a formula.
//! * [`sweep`]: grids of any of these in parts, on many cores and machines.

pub mod capture;
pub mod catalog;
pub mod expect;
pub mod fanout;
pub mod format;
pub mod golden;
pub mod load;
pub mod run;
pub mod sweep;
