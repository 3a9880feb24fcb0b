//! Adds an item to the session's to-do list.

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError};

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

fn create(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let subject = input.text("subject");
    let number = call.context.session.team.list.add(subject, input.text("description"));
    Ok(Outcome::done(format!("Task {number} is on the list: {subject}")))
}
