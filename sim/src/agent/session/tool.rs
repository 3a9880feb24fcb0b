//! What a tool is: its words on the wire, and what a call of it is and becomes (contract TOOLS).

use std::pin::Pin;
use std::rc::Rc;

use serde_json::Value;

use super::{Context, Session};
use crate::agent::abort::Abort;
use crate::agent::entry::{Entry, ToolUse};

/// A running call.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ToolError>> + 'a>>;

/// Something that an agent can do.
pub trait Tool {
    /// Its name on the wire.
    fn name(&self) -> &'static str;

    /// Its description and input schema as they stand on the wire. They may depend on the session: features hide fields,
    /// the Agent tool lists agents.
    fn definition(&self, context: &Offer<'_>) -> Definition;

    /// Whether this call changes nothing; decides about permission (PERM-09).
    fn effect(&self, input: &Value) -> Effect;

    /// The call must wait until the whole message is there (contract G07).
    fn waits_for_message(&self) -> bool {
        false
    }

    /// Agents that nobody waits for get it too (TOOLS-08).
    fn in_background(&self) -> bool {
        true
    }

    /// Does it.
    fn call(&self, call: Call) -> Running<'_>;
}

/// What decides about a tool's words on the wire.
pub struct Offer<'a> {
    /// The session.
    pub session: &'a Session,
    /// The offering is for a sub-agent.
    pub sub_agent: bool,
}

/// A tool on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: Value,
}

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Read,
    /// It changes files of the project.
    Edit,
    /// It can do anything.
    Any,
    /// It touches nothing outside the session: tasks, sub-agents.
    Session,
}

/// One call.
#[derive(Clone)]
pub struct Call {
    /// What was asked for.
    pub tool_use: ToolUse,
    /// Who asks.
    pub context: Rc<Context>,
    /// Stops it.
    pub abort: Abort,
    /// The message that it stands in, whole: forks are built from it (contract STREAM-17).
    pub message: Option<Rc<Entry>>,
}

/// What came of a call: what the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The text of the result.
    pub content: Rc<str>,
    /// It is an error.
    pub is_error: bool,
}

impl Outcome {
    /// It went well.
    pub fn done(content: impl Into<Rc<str>>) -> Self {
        Self { content: content.into(), is_error: false }
    }
}

/// Why a call has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It was stopped.
    #[error("stopped")]
    Aborted,
    /// It failed; the model sees the words.
    #[error("{0}")]
    Failed(Rc<str>),
}

impl ToolError {
    /// It failed; the model sees `words`.
    pub fn failed(words: impl Into<Rc<str>>) -> Self {
        Self::Failed(words.into())
    }
}

/// Every tool of a session, in the order of the wire.
#[derive(Clone, Default)]
pub struct Tools(Vec<Rc<dyn Tool>>);

impl Tools {
    /// These tools.
    pub const fn new(tools: Vec<Rc<dyn Tool>>) -> Self {
        Self(tools)
    }

    /// All in order.
    pub fn all(&self) -> &[Rc<dyn Tool>] {
        &self.0
    }
}
