//! Reads and stops background tasks (contract TASK, NOTIFY-11, DIAG-01, DIAG-08).

use std::rc::Rc;

use serde_json::Value;

use super::fields::{self, Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError, bash};
use crate::agent::event::Event;
use crate::agent::session::Session;
use crate::agent::task::{Report, Task};
use crate::time::Duration;

/// Returns a task's state and output.
#[derive(Clone, Copy, Debug)]
pub struct TaskOutput;

/// Default and maximum of `timeout` in milliseconds (contract G18).
const TIMEOUT_MS: u64 = 30_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

static FIELDS: [Field; 3] = [
    Field::required("task_id", Kind::Text, "The id of the task, as its launch returned it."),
    Field::optional("block", Kind::Flag, "Wait for its end; true by default."),
    Field::optional("timeout", Kind::Count(0), "Milliseconds to wait at most; 30000 by default, at most 600000."),
];

/// Stops a background task.
pub const TASK_STOP: PlainTool = PlainTool {
    name: "TaskStop",
    description: || "Stops a running background task. A notification of its end follows.".into(),
    fields: &[
        Field::optional("task_id", Kind::Text, "The id of the task, as its launch returned it."),
        Field::optional("shell_id", Kind::Text, "Deprecated: use `task_id`."),
    ],
    effect: Effect::Session,
    in_background: true,
    work: stop,
};

fn stop(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let id = input.optional_text("task_id").or_else(|| input.optional_text("shell_id"));
    let id = id.ok_or_else(|| ToolError::failed("TaskStop: the required field `task_id` is missing."))?;
    let stopped = call.context.session.tasks.kill(id);
    stopped.map_err(|why| ToolError::failed(format!("TaskStop: {why}.")))?;
    Ok(Outcome::done(format!("Task {id} is being stopped.")))
}

/// How a read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    AtOnce,
    Ended,
    TimedOut,
}

impl Tool for TaskOutput {
    fn name(&self) -> &str {
        "TaskOutput"
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition {
            description: "Deprecated: a notification reports the end of a task; use Read on its output file instead. \
                          Returns state and output of a background task, after its end unless `block` is false."
                .into(),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Read
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let input = fields::checked("TaskOutput", &FIELDS, &call.tool_use.input)?;
            let id = input.text("task_id");
            let task = call.context.session.tasks.get(id);
            let task = task.ok_or_else(|| ToolError::failed(format!("TaskOutput: there is no task `{id}`.")))?;
            let timeout_ms = input.count("timeout").unwrap_or(TIMEOUT_MS).min(TIMEOUT_MS_MAX);
            let reported = task.reported();
            let end = if input.flag_or("block", true) { waited(&call, &task, timeout_ms).await? } else { End::AtOnce };
            tell(&call, &task, end, reported);
            Ok(shown(&call, &task, end))
        })
    }
}

/// Waits for the task's end, and consumes it: no notification follows (NOTIFY-11). A timeout leaves the task and its
/// notification alone (G18).
async fn waited(call: &Call, task: &Task, timeout_ms: u64) -> Result<End, ToolError> {
    let session = &call.context.session;
    let _reader = session.tasks.reader(task);
    crate::select! {
        () = call.abort.given() => return Err(ToolError::Aborted),
        _ = session.tasks.ended(&task.id) => {}
        () = session.handle.sleep(Duration::from_millis(timeout_ms)) => return Ok(End::TimedOut),
    }
    task.claim_report(Report::Read);
    Ok(End::Ended)
}

/// Reports the read, with all that explains an unseen result (DIAG-01) or a read without an end (DIAG-08).
fn tell(call: &Call, task: &Task, end: End, reported: Report) {
    let how = match end {
        End::AtOnce => "at_once",
        End::Ended => "ended",
        End::TimedOut => "timed_out",
    };
    call.context.emit(&Event::TaskRead {
        agent: call.context.agent.clone(),
        task: task.id.clone(),
        tool_use: call.tool_use.id.clone(),
        state: task.state().name(),
        how,
        settled: task.is_settled(),
        reported: reported.name(),
        drains: !call.context.session.front.is_dialog_open(),
    });
}

/// What the model sees: the state and what the output file holds so far (TASK-03).
fn shown(call: &Call, task: &Task, end: End) -> Outcome {
    let Task { id, kind, output_file, .. } = task;
    let (kind, state) = (kind.name(), task.state().name());
    let timed_out = if end == End::TimedOut { "timed_out: true\n" } else { "" };
    let output: Option<Rc<str>> = call.context.session.world.files.read(output_file);
    let output = output.map_or_else(|| "(no output)".into(), |output| bash::shortened(&output));
    Outcome::done(format!(
        "task_id: {id}\ntask_type: {kind}\nstatus: {state}\n{timed_out}output_file: {output_file}\n\n{output}"
    ))
}
