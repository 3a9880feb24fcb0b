//! What is sent, byte for byte.

pub mod model;
mod usage;

pub use usage::Usage;
