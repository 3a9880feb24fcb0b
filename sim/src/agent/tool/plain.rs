//! Tools that answer at once and have the same description in every session.

use serde_json::Value;

use super::fields::{self, Field, Input};
use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError};
use crate::agent::session::Session;

/// A tool with fixed descriptions and one function. Its input is checked before the function is called.
#[derive(Clone, Copy)]
pub struct PlainTool {
    /// Its name as sent.
    pub name: &'static str,
    /// Its purpose, for the model.
    pub description: fn() -> String,
    /// Its input.
    pub fields: &'static [Field],
    /// The effect of a call.
    pub effect: Effect,
    /// Whether background agents get it too (TOOLS-08).
    pub in_background: bool,
    /// Performs the call.
    pub work: fn(&Call, Input<'_>) -> Result<Outcome, ToolError>,
}

impl Tool for PlainTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition { description: (self.description)(), input_schema: fields::schema(self.fields) }
    }

    fn effect(&self, _input: &Value) -> Effect {
        self.effect
    }

    fn in_background(&self) -> bool {
        self.in_background
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move { (self.work)(&call, fields::checked(self.name, self.fields, &call.tool_use.input)?) })
    }
}
