//! Recorded requests and responses in, billed and explained requests out.
//!
//! * [`input`]: paths to exchanges; formats are detected by content, everything that is not read is accounted for.
//! * [`formats`]: one reader for each file format.
//! * [`exchange`]: one recorded request and its answer, whatever file it came from.
//! * [`transcript`]: recorded sessions of agents: their threads, joined over all files.
//! * [`trace`]: serving traces: prompts as ids of blocks.
//! * [`rebuild`]: from a session back to the prompts that its client sent.
//! * [`what_if`]: what the same requests would have cost otherwise.
//! * [`check`]: recordings through the prefix guard.
//! * [`http`]: one HTTP exchange, however it was recorded, becomes an exchange.
//! * [`response`]: usage out of answers, in JSON and as streams.
//! * [`recording`]: recorded answers, for the recorded model to play.
//! * [`source`]: where requests come from: their order, who shares a cache, facts about each.
//! * [`replay`](mod@replay): the engine: predicts, compares, explains, prices.
//! * [`calibrate`](mod@calibrate): token factors fitted to recorded usage.
//! * [`output`]: writing files atomically, and never over files that are not ours.
//! * [`error`]: errors of the crate, and damage at a place in a file.

pub mod calibrate;
pub mod check;
mod count;
pub mod error;
pub mod exchange;
pub mod formats;
pub mod http;
pub mod input;
mod names;
pub mod output;
mod packing;
pub mod rebuild;
pub mod recording;
pub mod replay;
pub mod response;
pub mod side_by_side;
pub mod source;
pub mod trace;
pub mod transcript;
pub mod what_if;
