//! Who asks: a complete agent runtime on a virtual clock.
//!
//! It knows requests and answers and nothing of caches or money. The lines of the behaviour contract that a module holds
//! stand in its documentation by their ids (`../../coverage`). Each uses those above it alone:
//!
//! * [`event`], [`entry`], [`abort`]: everything that happens, what was said, what ends an agent.
//! * [`ground`]: clock, watcher and ids, on which every store stands.
//! * Stores: [`world`], what tools act on; [`queue`], the one queue; [`hook`], what looks on; [`permission`], rules, modes and
//!   requests; [`definition`], kinds of agents; [`settings`], options that never change; [`conversation`], what was sent;
//!   [`task`], what runs and how it ended; [`notification`], [`transcript`]: what comes back, what is kept.
//! * [`session`]: all of them together, the agents that run in it, and what a tool is.
//! * [`prompt`]: system prompt, tool descriptions, user context. [`query`]: the loop: stream, tools, exit checks.
//! * [`spawn`]: sub-agents: routing, waiting, background, takeover. [`tool`]: what an agent can do.
//! * [`input`]: how a user's text enters; slash commands; `!` lines; who takes what waits in the queue.

pub mod abort;
pub mod conversation;
pub mod definition;
pub mod entry;
pub mod event;
pub mod ground;
pub mod hook;
pub mod input;
pub mod notification;
pub mod permission;
pub mod prompt;
pub mod query;
pub mod queue;
pub mod session;
pub mod settings;
pub mod spawn;
pub mod task;
pub mod tool;
pub mod transcript;
pub mod world;

pub use abort::Abort;
pub use entry::Entry;
pub use event::{Event, Sink};
pub use ground::Ground;
pub use session::{Context, Session};
pub use settings::Settings;
