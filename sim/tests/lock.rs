//! The lock: its text, reading it back, and its differences.

mod differences;
mod figures;
mod fuzzed;
mod mistakes;
mod mutated;
mod stage;
mod text;
mod updates;
