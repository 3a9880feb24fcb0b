//! One file for each verb.

pub mod cast;
pub mod check;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod diff;
pub mod explain;
pub mod fanout;
pub mod list;
pub mod lock;
pub mod man;
pub mod new;
pub mod recording;
pub mod replay;
pub mod report;
pub mod run;
pub mod run_folder;
pub mod sweep;
