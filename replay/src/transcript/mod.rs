//! Recorded sessions of agents of any client: input and answers of conversations, and signs that a client changed something.
//!
//! A reader returns [`Thread`]s, one for each agent in a file. Content is measured, hashed and, unless a caller asks for it, dropped, so a thread takes a small
//! part of its file's size, and is packed as soon as its file is read. [`Sessions`] joins the threads of all files into
//! [`Session`]s: content that several files repeat counts once, whatever their names and order.

mod assemble;
mod doubles;
mod id;
mod item;
mod measure;
mod packed;
mod session;
mod sessions;
mod shared;
mod spill;

pub use id::{Version, answer_id, call_id, content_digest, place_id, version};
pub(crate) use id::{file_stem, user_of};
pub use item::{
    Answer, Call, Diagnosis, DiagnosisKind, Input, InputOrigin, Item, OutputCount, Part, QueueStep, Sign, Spawn,
    SpawnMode, SpawnResult, Stop, Thinking, What, Wording,
};
pub use measure::Measuring;
pub use session::{Agent, AgentKind, Session};
pub use sessions::{FileThreads, MEMORY_BYTES_MAX, Sessions};

use std::sync::Arc;

/// One agent in one file, in the order of the conversation.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The session's id in the file. Threads with equal ids are one session; the threads of a file without an id are a session
    /// of their own, named by the file's stem.
    pub session: Option<Arc<str>>,
    /// The sub-agent's id; `None` for the main agent.
    pub agent: Option<Arc<str>>,
    /// The user: the first three components of the file's first working directory, as written.
    pub user: Option<Arc<str>>,
    /// The project: the first working directory, as written.
    pub project: Option<Arc<str>>,
    /// The events, oldest first.
    pub items: Vec<Item>,
}
