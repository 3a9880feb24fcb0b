//! Prompts rebuilt from a session: what the client is believed to have sent, request by request.
//!
//! A transcript has no prompts. The hidden prefix (tools and system prompt) is represented by opaque blocks, the conversation by
//! the measured blocks of the transcript; a profile of the client's habits describes what it changes. The caches then get the same
//! as from a recorded body: a path of prefixes, breakpoints, sizes.

mod dispatch;
pub mod forecast;
pub mod history;
pub mod lane;
pub mod profile;
mod tokens;

pub use dispatch::{Dispatch, DispatchMarker, MarkerRole};
pub use tokens::Tokens;
