//! Scenarios: YAML files with a world, a script and expectations about agents.
//!
//! Modules in reading order:
//!
//! * [`format`](mod@format): the format and its checks.
//! * [`load`]: converts a scenario to the setup of a simulation.
//! * [`run`]: runs it, and holds the results.
//! * [`expect`]: compares results with expectations.
//! * [`catalog`]: the built-in scenarios.
//! * [`capture`]: the requests of a run as a proxy would record them, for the prefix guard.
//! * [`cast`](mod@cast): a recorded session as a scenario.
//! * [`fanout`]: the cost of fan-out, as a run and as a formula.
//! * [`sweep`]: grids of any of these in parts, on many cores and machines.

pub mod capture;
pub mod cast;
pub mod catalog;
pub mod expect;
pub mod fanout;
pub mod format;
pub mod load;
pub mod run;
pub mod sweep;
