//! Text for people: documents about a report, a comparison, built-in data.

mod calibration;
pub mod cast;
mod change;
pub mod check;
pub mod diff;
pub mod explain;
pub mod fanout;
pub mod list;
pub mod movement;
pub mod replay;
pub mod run;
pub mod sweep;
pub(crate) mod when;
