//! Claims about agents, one YAML file each: a world, a script, and what must come out.
//!
//! Modules in reading order:
//!
//! * [`format`](mod@format): a scenario as it is written, and everything that can be wrong with it.
//! * [`load`]: from there to what a simulation is given.

pub mod format;
pub mod load;
