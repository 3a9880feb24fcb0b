//! How a user's text enters (contract INPUT-01..09): front end, `submit`, `process`, `append`, `query`.
//!
//! * [`FrontEnd`]: where the user types, presses ESC, opens dialogs and leaves. Typed text enters the queue, whether or
//!   not a turn runs (INPUT-08).
//! * `consumer`: takes items from the queue (QUEUE-13, QUEUE-14, QUEUE-16).
//! * `serve`: handles the items that a consumer took: slash commands (INPUT-04..07), `!` lines (INPUT-09), text.
//! * [`Command`]: the action of a slash command.

mod command;
mod consumer;
mod serve;

pub use command::Scripted;
pub use consumer::{headless, repl};
pub use serve::serve;

pub use super::session::{Command, FrontEnd, Handling};
