//! Whole runs: agents, a scripted model, a cache, a clock and a bill together.

mod acts;
mod compaction;
mod coordination;
mod internal;
mod limits;
mod provider;
mod remote;
mod runs;
mod same;
mod servers;
mod sizes;
mod slash;
mod stage;
mod teams;
mod worktrees;
