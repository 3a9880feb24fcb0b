//! One file for each verb.

pub mod diff;
pub mod list;
pub mod replay;
