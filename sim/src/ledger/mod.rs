//! What happened, request by request. Every number, table and picture is derived from these lines.
//!
//! A [`Line`] holds one request: what it asked for, what it cost, and why it missed. [`Totals`] are sums of lines.

mod line;
mod totals;
mod unread;

pub use line::{CauseCost, Charge, Line, PredictedCost, charge};
pub use totals::{CauseTotal, Totals};
pub use unread::{UnreadWrites, WriteId};
