//! What teammates and leader write to each other: plain data, which any process or machine can read (SWARM-14).

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message in a mailbox. Its number is unique in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Letter {
    /// Its number.
    pub number: u64,
    /// The id of the agent that wrote it.
    pub from: Rc<str>,
    /// What it says.
    #[serde(flatten)]
    pub content: Content,
}

/// What a letter says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// A message for the receiver's conversation.
    Message {
        /// The text, or a structured message as JSON.
        text: Rc<str>,
    },
    /// A teammate has answered and waits (SWARM-03).
    Idle {
        /// Its last text.
        text: Rc<str>,
    },
    /// A teammate has left: it failed or was stopped.
    Left {
        /// The state of its task.
        state: Rc<str>,
        /// Why, or its newest text.
        text: Rc<str>,
    },
    /// A teammate asks for permission (SWARM-08).
    PermissionRequest {
        /// The number of the request.
        request: u64,
        /// The tool.
        tool: Rc<str>,
        /// The id of the call.
        tool_use: Rc<str>,
        /// The input of the call.
        input: Value,
    },
    /// The leader's decision.
    PermissionReply {
        /// The number of the request.
        request: u64,
        /// Whether the call is allowed.
        allow: bool,
    },
}

impl Content {
    /// The word in logs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::Idle { .. } => "idle",
            Self::Left { .. } => "left",
            Self::PermissionRequest { .. } => "permission_request",
            Self::PermissionReply { .. } => "permission_reply",
        }
    }
}
