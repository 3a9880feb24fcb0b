//! Recorded sessions of agents, whatever client wrote them: what was put into the conversation, what was answered, and the
//! signs by which a client shows that it changed something.
//!
//! A reader gives [`Thread`]s: one for each agent that a file tells of. Content is measured, digested and left behind, so a thread takes
//! a small part of its file, and is packed as soon as its file is read. [`Sessions`] joins the threads of all files into
//! [`Session`]s: what several files repeat counts once, whatever the files are called and in whatever order they come.

mod assemble;
mod doubles;
mod id;
mod item;
mod measure;
mod packed;
mod session;
mod sessions;
mod spill;

pub use id::{Version, answer_id, call_id, content_digest, place_id, version};
pub(crate) use id::{file_stem, user_of};
pub use item::{
    Answer, Call, Diagnosis, DiagnosisKind, Input, InputOrigin, Item, OutputCount, Part, Sign, Spawn, SpawnMode,
    SpawnResult, Stop, Thinking, What,
};
pub use measure::Measuring;
pub use session::{Agent, AgentKind, Session};
pub use sessions::{FileThreads, MEMORY_BYTES_MAX, Sessions};

use std::sync::Arc;

/// What one file tells of one agent, in the order of the conversation.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The session's id as the file has it. Threads with equal ids are one session; the threads of a file without one are
    /// a session of their own, shown under the file's stem.
    pub session: Option<Arc<str>>,
    /// The sub-agent's id; `None` for the main agent.
    pub agent: Option<Arc<str>>,
    /// Whose machine it was: the first three components of the file's first working directory, as written.
    pub user: Option<Arc<str>>,
    /// The first working directory, as written: the project.
    pub project: Option<Arc<str>>,
    /// What happened, oldest first.
    pub items: Vec<Item>,
}
