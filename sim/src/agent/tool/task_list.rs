//! The tools of a team's task list (contract SWARM-10..12): the leader makes and assigns entries, teammates claim and
//! update them.

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError};
use crate::agent::team::list::{NotTaken, Status};

/// Makes the list.
pub const CREATE_TASK_LIST: PlainTool = PlainTool {
    name: "CreateTaskList",
    description: || "Puts tasks on the list that the whole team sees. Only the leader makes and assigns tasks.".into(),
    fields: &[Field::required("tasks", Kind::Texts, "What is to be done, one text for each task.")],
    effect: Effect::Session,
    in_background: false,
    work: create,
};

/// Gives an entry to a teammate.
pub const ASSIGN_TASK: PlainTool = PlainTool {
    name: "AssignTask",
    description: || "Gives a pending task of the list to a teammate; it has to claim the task before it begins.".into(),
    fields: &[
        Field::required("task_id", Kind::Text, "The number of the task."),
        Field::required("teammate", Kind::Text, "The teammate: its name, or its id."),
    ],
    effect: Effect::Session,
    in_background: false,
    work: assign,
};

/// Takes an entry.
pub const CLAIM_TASK: PlainTool = PlainTool {
    name: "ClaimTask",
    description: || "Takes a pending task of the list, so that nobody else begins it.".into(),
    fields: &[Field::required("task_id", Kind::Text, "The number of the task.")],
    effect: Effect::Session,
    in_background: true,
    work: claim,
};

/// Changes the status of an entry.
pub const UPDATE_TASK: PlainTool = PlainTool {
    name: "UpdateTask",
    description: || "Sets the status of a task that you claimed; `pending` gives it back.".into(),
    fields: &[
        Field::required("task_id", Kind::Text, "The number of the task."),
        Field::required("status", Kind::Choice(&["pending", "in_progress", "completed"]), "Its new status."),
    ],
    effect: Effect::Session,
    in_background: true,
    work: update,
};

fn create(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let list = &call.context.session.team.list;
    let numbers = list.create(&call.context.agent, input.texts("tasks"));
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Ok(Outcome::done(format!("On the list: {}", numbers.join(", "))))
}

fn assign(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let session = &call.context.session;
    let (id, to) = (input.text("task_id"), input.text("teammate"));
    let agent = session.tasks.names.get(to).unwrap_or_else(|| to.into());
    let member = session.team.get(&agent).filter(|member| member.mailbox.is_open());
    let member = member.ok_or_else(|| ToolError::failed(format!("AssignTask: there is no teammate `{to}`.")))?;
    done(session.team.list.assign(&call.context.agent, id, &member.agent), "AssignTask", id)
}

fn claim(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let id = input.text("task_id");
    done(call.context.session.team.list.claim(&call.context.agent, id), "ClaimTask", id)
}

fn update(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let id = input.text("task_id");
    let status = Status::named(input.text("status")).unwrap_or(Status::Pending);
    done(call.context.session.team.list.update(&call.context.agent, id, status), "UpdateTask", id)
}

fn done(result: Result<(), NotTaken>, tool: &str, id: &str) -> Result<Outcome, ToolError> {
    result.map_err(|why| ToolError::failed(format!("{tool}: {why}.")))?;
    Ok(Outcome::done(format!("Task {id} is updated.")))
}
