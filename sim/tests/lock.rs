//! The lock: what its text holds, how it is read back, and what differs from it.

mod differences;
mod figures;
mod fuzzed;
mod mistakes;
mod mutated;
mod stage;
mod text;
mod updates;
