//! Whole runs: agents, a scripted model, a cache, a clock and a bill together.

mod acts;
mod compaction;
mod internal;
mod limits;
mod provider;
mod runs;
mod same;
mod sizes;
mod stage;
