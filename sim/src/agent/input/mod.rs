//! How a user's text enters (contract INPUT-01..09): front end, `submit`, `process`, `append`, `query`.
//!
//! * [`FrontEnd`]: where the user sits: types, presses ESC, opens dialogs, leaves. What is typed enters the queue, whether
//!   or not a turn runs (INPUT-08).
//! * `serve`: what becomes of the items that a consumer took: slash commands (INPUT-04..07), `!` lines (INPUT-09), text.
//! * [`Command`]: what a slash command does.

mod command;
mod front;
mod serve;

pub use command::{Command, Handling, Scripted};
pub use front::FrontEnd;
pub use serve::{joins, serve};
