//! What-ifs: cases computed by hand, and properties against slow and obvious twins.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "what_if/actions.rs"]
mod actions;
#[path = "what_if/bounds.rs"]
mod bounds;
#[path = "what_if/cases.rs"]
mod cases;
#[path = "what_if/placements.rs"]
mod placements;
#[path = "what_if/properties.rs"]
mod properties;
#[path = "what_if/spelling.rs"]
mod spelling;
#[path = "what_if/stage.rs"]
mod stage;
