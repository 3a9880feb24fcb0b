//! One file for each verb.

pub mod diff;
pub mod explain;
pub mod list;
pub mod replay;
