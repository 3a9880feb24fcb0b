//! Forks through the whole runtime: agents, cache, bill (contract FORK, CACHE).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fan;
mod layout;
mod parents;
mod properties;
mod worked;
