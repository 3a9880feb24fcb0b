//! What-ifs: cases computed by hand, and properties against slow and obvious twins.

mod actions;
mod bounds;
mod cases;
mod placements;
mod properties;
mod same_tokens;
mod spelling;
mod stage;
