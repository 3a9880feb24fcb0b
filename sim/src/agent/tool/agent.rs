//! The Agent tool, which starts sub-agents; `spawn` reads its input and does the work.

use serde_json::Value;

use super::{Call, Definition, Effect, Offer, Running, Tool};
use crate::agent::prompt::agent_tool;
use crate::agent::settings::gate;
use crate::agent::spawn;

/// Starts sub-agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agent;

impl Tool for Agent {
    fn name(&self) -> &'static str {
        "Agent"
    }

    fn definition(&self, offer: &Offer<'_>) -> Definition {
        let description = agent_tool::describe(offer.session, gate::offer(&offer.session.settings));
        Definition { description, input_schema: spawn::input::visible_schema(&offer.session.settings) }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    fn waits_for_message(&self) -> bool {
        true
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(spawn::call(call))
    }
}
