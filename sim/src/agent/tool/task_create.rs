//! Puts something on the session's list of what is to be done: a file of the world for each.

use serde_json::{Value, json};

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Offer, Outcome, Running, Tool, ToolError};
use crate::agent::session::Session;

/// Puts a task on the list.
#[derive(Clone, Copy, Debug)]
pub struct TaskCreate;

const FIELDS: [Field; 2] = [
    Field::required("subject", Kind::Text, "What is to be done, in a few words."),
    Field::required("description", Kind::Text, "What it takes, and when it is done."),
];

impl Tool for TaskCreate {
    fn name(&self) -> &'static str {
        "TaskCreate"
    }

    fn definition(&self, _offer: &Offer<'_>) -> Definition {
        Definition {
            description: "Adds a task to the list of what is to be done in this session. Worth it for work of three \
                          steps or more; the user sees the list."
                .into(),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move { create(&call) })
    }
}

/// The folder of the list.
fn folder(session: &Session) -> String {
    format!("{}/.claude/tasks/{}", session.settings.home, session.settings.session)
}

fn create(call: &Call) -> Result<Outcome, ToolError> {
    let input = fields::checked("TaskCreate", &FIELDS, &call.tool_use.input)?;
    let session = &call.context.session;
    let (folder, subject) = (folder(session), input.text("subject"));
    let number = session.world.files.below(&folder).len() + 1;
    let task = json!({
        "id": number.to_string(),
        "subject": subject,
        "description": input.text("description"),
        "status": "pending",
    });
    session.world.files.write(&format!("{folder}/{number}.json"), task.to_string());
    Ok(Outcome::done(format!("Task {number} is on the list: {subject}")))
}
