//! The interface of tools: their definition as sent, their calls and results (contract TOOLS).

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;

use serde_json::Value;

use super::{Context, Session};
use crate::agent::abort::Abort;
use crate::agent::entry::{Entry, ToolUse};
use crate::agent::settings::Settings;
use crate::wire::Form;

/// A running call.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ToolError>> + 'a>>;

/// A tool.
pub trait Tool {
    /// Its name as sent.
    fn name(&self) -> &str;

    /// Its description and input schema as sent. They may depend on the session: features hide fields, and the Agent
    /// tool lists agents.
    fn definition(&self, session: &Session) -> Definition;

    /// What this call changes, for permission checks (PERM-09).
    fn effect(&self, input: &Value) -> Effect;

    /// Whether a call with this input must wait for the whole message (contract G07).
    fn waits_for_message(&self, _settings: &Settings, _input: &Value) -> bool {
        false
    }

    /// Whether background agents get it too (TOOLS-08).
    fn in_background(&self) -> bool {
        true
    }

    /// Performs the call.
    fn call(&self, call: Call) -> Running<'_>;
}

/// A tool's definition as sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its purpose, for the model.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: Value,
}

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes files of the project.
    Edit,
    /// It can have any effect.
    Any,
    /// It only affects the session: tasks, sub-agents.
    Session,
}

/// One call.
#[derive(Clone)]
pub struct Call {
    /// The call as the model made it.
    pub tool_use: ToolUse,
    /// The calling agent.
    pub context: Rc<Context>,
    /// Stops the call.
    pub abort: Abort,
    /// The whole message of the call, from which forks are built (contract STREAM-17).
    pub message: Option<Rc<Entry>>,
}

/// The result of a call, as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The text of the result.
    pub content: Content,
    /// Whether it is an error.
    pub is_error: bool,
}

impl Outcome {
    /// A successful result.
    pub fn done(content: impl Into<Rc<str>>) -> Self {
        Self { content: Content::Text(content.into()), is_error: false }
    }
}

/// The text of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// As it is.
    Text(Rc<str>),
    /// Put together when it is needed.
    Formed(Form),
}

impl Content {
    /// The whole text.
    pub fn text(&self) -> Rc<str> {
        match self {
            Self::Text(text) => text.clone(),
            Self::Formed(form) => form.text().into(),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl<T: Into<Rc<str>>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// Why a call has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It was stopped.
    #[error("stopped")]
    Aborted,
    /// It failed; the model sees this text.
    #[error("{0}")]
    Failed(Rc<str>),
}

impl ToolError {
    /// A failure; the model sees `words`.
    pub fn failed(words: impl Into<Rc<str>>) -> Self {
        Self::Failed(words.into())
    }
}

/// All tools of a session, in the order in which they are sent.
#[derive(Clone, Default)]
pub struct Tools(Vec<Rc<dyn Tool>>);

impl Tools {
    /// A list of tools.
    pub const fn new(tools: Vec<Rc<dyn Tool>>) -> Self {
        Self(tools)
    }

    /// The same, ordered by name: an order without meaning that never changes (`clients.md` 1, 2026-11).
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort_by(|one, other| one.name().cmp(other.name()));
        self
    }

    /// All tools, in order.
    pub fn all(&self) -> &[Rc<dyn Tool>] {
        &self.0
    }

    /// The tool called `name`.
    pub fn get(&self, name: &str) -> Option<&Rc<dyn Tool>> {
        self.0.iter().find(|tool| tool.name() == name)
    }
}
