//! Tools for tests, with fixed durations and outputs.

use forkcast_sim::agent::Session;
use forkcast_sim::agent::Settings;
use forkcast_sim::agent::tool::{Call, Definition, Effect, Outcome, Running, Tool, ToolError};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

/// A tool that takes `takes_ms` and returns `says`; if `deaf`, it ignores the abort signal.
pub struct Probe {
    /// Its name.
    pub name: &'static str,
    /// Whether it waits for the whole message.
    pub waits: bool,
}

impl Tool for Probe {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition { description: "Waits and answers.".to_owned(), input_schema: json!({ "type": "object" }) }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Read
    }

    fn waits_for_message(&self, _settings: &Settings, _input: &Value) -> bool {
        self.waits
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let input = &call.tool_use.input;
            let takes = Duration::from_millis(input["takes_ms"].as_u64().unwrap_or(0));
            let deaf = input["deaf"].as_bool().unwrap_or(false);
            let sleeping = call.context.session.handle.sleep(takes);
            if deaf {
                sleeping.await;
            } else {
                forkcast_sim::select! {
                    () = call.abort.given() => return Err(ToolError::Aborted),
                    () = sleeping => {}
                }
            }
            match input["fails"].as_str() {
                Some(words) => Err(ToolError::Failed(words.into())),
                None => Ok(Outcome::done(input["says"].as_str().unwrap_or("done"))),
            }
        })
    }
}
