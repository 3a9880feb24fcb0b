//! Adds an item to the session's to-do list: one file of the world per item.

use serde_json::json;

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError};
use crate::agent::session::Session;

/// Adds an item to the to-do list.
pub const TASK_CREATE: PlainTool = PlainTool {
    name: "TaskCreate",
    description: || {
        "Adds a task to the list of what is to be done in this session. Worth it for work of three \
         steps or more; the user sees the list."
            .into()
    },
    fields: &[
        Field::required("subject", Kind::Text, "What is to be done, in a few words."),
        Field::required("description", Kind::Text, "What it takes, and when it is done."),
    ],
    effect: Effect::Session,
    // The contract does not specify this (TOOLS-08). The list belongs to the conversation with the user, in which
    // background agents do not take part.
    in_background: false,
    work: create,
};

/// The folder of the list.
fn folder(session: &Session) -> String {
    format!("{}/.claude/tasks/{}", session.settings.home, session.settings.session)
}

fn create(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let session = &call.context.session;
    let folder = folder(session);
    let subject = input.text("subject");
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
