//! Forks through the whole runtime: agents, cache, bill (contract FORK, CACHE).

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
