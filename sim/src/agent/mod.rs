//! A complete agent runtime on a virtual clock.
//!
//! It knows requests and answers, but neither caches nor money. Each module's documentation names the lines of the
//! behaviour contract that it implements (`../../coverage`). Modules use only those listed above them:
//!
//! * [`event`], [`entry`], [`abort`]: everything that happens, messages, abort signals.
//! * [`ground`]: clock, sink and ids, used by every store.
//! * Stores: [`world`], which tools act on; [`queue`], the only queue; [`hook`], scripted observers; [`permission`],
//!   rules, modes and requests; [`definition`], agent types; [`settings`], options that never change; [`conversation`],
//!   the sent bytes; [`task`], running tasks and their outcomes; [`notification`];
//!   [`transcript`]; [`team`], teammates with their mailboxes.
//! * [`session`]: all stores together, the agents that run in it, and the tool interface.
//! * [`prompt`]: system prompt, tool descriptions, user context. [`query`]: the loop: stream, tools, exit checks.
//! * [`spawn`]: sub-agents: routing, waiting, background, takeover. [`tool`]: the tools of an agent.
//! * [`input`]: how a user's text enters; slash commands; `!` lines; consumers of the queue.

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
pub mod team;
pub mod tool;
pub mod transcript;
pub mod world;

pub use abort::Abort;
pub use entry::Entry;
pub use event::{Event, Sink};
pub use ground::Ground;
pub use session::{Context, Session};
pub use settings::Settings;
