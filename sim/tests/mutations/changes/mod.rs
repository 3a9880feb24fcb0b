//! What is planted, by what it touches.

pub mod characters;
pub mod harmless;
pub mod history;
pub mod images;
pub mod parameters;
pub mod results;
pub mod system;
pub mod tools;
pub mod varying;
