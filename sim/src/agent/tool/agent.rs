//! The Agent tool, which starts sub-agents; `spawn` reads its input and does the work.

use serde_json::Value;

use super::{Call, Definition, Effect, Running, Tool};
use crate::agent::prompt::agent_tool;
use crate::agent::session::Session;
use crate::agent::settings::gate::{self, Meant};
use crate::agent::settings::{Profile, Settings};
use crate::agent::spawn;

/// Starts sub-agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agent;

impl Tool for Agent {
    fn name(&self) -> &str {
        "Agent"
    }

    fn definition(&self, session: &Session) -> Definition {
        let description = agent_tool::describe(session, gate::offer(&session.settings));
        Definition { description, input_schema: spawn::input::visible_schema(&session.settings) }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    /// A fork is built from its parent's whole message (G07). In the client of 2026, a named agent starts as soon as its
    /// call is complete: recorded agents of one message start up to 39 s before its end (2.1.219).
    fn waits_for_message(&self, settings: &Settings, input: &Value) -> bool {
        let kind = input.get("subagent_type").and_then(Value::as_str);
        settings.forks.profile == Profile::Documents || gate::meant(settings, kind) == Meant::Fork
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(spawn::call(call))
    }
}
