//! Who asks: a complete agent runtime on a virtual clock.
//!
//! It knows requests and answers and nothing of caches or money. The lines of the behaviour contract that a module holds
//! stand in its documentation by their ids (`../../coverage`). In the order in which a user's text passes them:
//!
//! * [`session`]: what one session has: settings, flags, ids, and everything below.
//! * [`input`]: how a user's text enters; slash commands; `!` lines.
//! * [`queue`]: the one queue and its three consumers.
//! * [`query`]: the loop: stream, tools, exit checks.
//! * [`prompt`]: system prompt, tool descriptions, user context.
//! * [`tool`], [`permission`]: what an agent can do, and whether it may. [`world`]: what it is done to.
//! * [`definition`], [`context`], [`hook`]: kinds of agents, what a running one has, what hangs on to it.
//! * [`spawn`]: sub-agents: routing, waiting, background, takeover. [`task`]: what runs and how it ended.
//! * [`notification`], [`transcript`]: what comes back, what is kept.
//! * [`event`]: everything that happens, for whoever watches.

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
