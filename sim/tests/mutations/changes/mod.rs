//! Planted changes, by the part they affect.

pub mod characters;
pub mod harmless;
pub mod history;
pub mod images;
pub mod parameters;
pub mod results;
pub mod system;
pub mod tools;
pub mod varying;
