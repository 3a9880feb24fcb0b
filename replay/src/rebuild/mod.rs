//! From a session back to the prompts: what the client is believed to have sent, request by request.
//!
//! A transcript holds no prompts. The hidden prefix (tools and system prompt) is carried as opaque blocks, the conversation as
//! the blocks that the transcript measured; what the client changes on its way is told by a profile of its habits.
//! The caches then see the same as with a recorded body: a path of prefixes, breakpoints, sizes.

mod dispatch;
pub mod forecast;
pub mod history;
pub mod lane;
pub mod profile;
mod tokens;

pub use dispatch::{Dispatch, DispatchMarker, MarkerRole};
pub use tokens::Tokens;
