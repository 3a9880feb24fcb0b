//! What people read: documents made of a report, of a comparison, of what is built in.

mod calibration;
mod change;
pub mod check;
pub mod diff;
pub mod explain;
pub mod fanout;
pub mod list;
pub mod replay;
pub mod run;
pub mod sweep;
pub(crate) mod when;
