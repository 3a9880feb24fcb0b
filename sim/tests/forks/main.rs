//! Forks through the whole runtime: agents, cache, bill (contract FORK, CACHE).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fan;
mod gate;
mod guards;
mod inherited;
mod layout;
mod message;
mod parents;
mod properties;
mod running;
mod scene;
mod sharing;
mod worked;
