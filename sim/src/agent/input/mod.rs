//! How a user's text enters (contract INPUT-01..09): front end, `submit`, `process`, `append`, `query`.
//!
//! * [`FrontEnd`]: where the user sits: types, presses ESC, opens dialogs, leaves. What is typed enters the queue, whether
//!   or not a turn runs (INPUT-08).
//! * `consumer`: who takes items from the queue (QUEUE-13, QUEUE-14, QUEUE-16).
//! * `serve`: what becomes of the items that a consumer took: slash commands (INPUT-04..07), `!` lines (INPUT-09), text.
//! * [`Command`]: what a slash command does.

mod command;
mod consumer;
mod serve;

pub use command::Scripted;
pub use consumer::{headless, repl};
pub use serve::serve;

pub use super::session::{Command, FrontEnd, Handling};
