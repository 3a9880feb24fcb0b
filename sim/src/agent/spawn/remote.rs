//! Agents on other machines: a service runs them, and a notification brings the result (contract AGENT-27, RESULT-06,
//! RESULT-13).

use std::rc::Rc;

use super::result::{Data, RemoteLaunched};
use super::route::Resolved;
use super::waiter;
use crate::agent::abort::Abort;
use crate::agent::notification::{Details, Totals};
use crate::agent::session::{Call, Context, Outcome, Session};
use crate::agent::settings::RemoteRun;
use crate::agent::task::{Kind, Launch, State, Task, output};

/// Slash commands that work on another machine, in builds that have remote agents (contract QUEUE-08, NOTIFY-14).
pub const COMMANDS: [&str; 2] = ["ultraplan", "ultrareview"];

/// Gives the task to the service, and returns at once. Nothing of it runs here.
pub(super) fn launch(call: &Call, resolved: &Resolved) -> Outcome {
    let input = &resolved.input;
    let task = begin(&call.context, &call.tool_use.id, &input.description, &input.prompt);
    let data = Data::RemoteLaunched(RemoteLaunched {
        session_url: format!("https://remote.invalid/sessions/{}", task.id).into(),
        task_id: task.id.clone(),
        output_file: task.output_file.clone(),
        description: task.description.clone(),
    });
    waiter::give(call, &task.id, &data, Totals::default(), false)
}

/// Runs one of [`COMMANDS`]; returns its output. The end is reported as that of every task.
pub fn command(main: &Rc<Context>, name: &Rc<str>, prompt: &str) -> Rc<str> {
    let task = begin(main, &main.session.ids.next("command"), name, prompt);
    format!("/{name} works on another machine as {}. A notification will bring its result.", task.id).into()
}

fn begin(context: &Context, tool_use: &Rc<str>, description: &Rc<str>, prompt: &str) -> Rc<Task> {
    let session = context.session.clone();
    let id = session.ids.next("remote");
    let task = session.tasks.register(Launch {
        output_file: output::path(&session.settings, &id),
        kind: Kind::Remote,
        description: description.clone(),
        tool_use: tool_use.clone(),
        owner: context.own_id(),
        abort: Abort::default(),
        background: true,
        id,
    });
    session.world.files.write(&task.output_file, "");
    let run = session.settings.remote.iter().find(|run| run.prompt.matches(prompt)).cloned();
    drop(session.handle.spawn(task.id.clone(), follow(session.clone(), task.clone(), run)));
    task
}

/// Waits for the service, or stops the run there (contract TASK-10); then reports the end.
async fn follow(session: Rc<Session>, task: Rc<Task>, run: Option<RemoteRun>) {
    let abort = task.abort();
    let ended = crate::select! {
        () = abort.given() => None,
        ended = run_there(&session, run) => Some(ended),
    };
    let (state, text) = ended.unwrap_or_else(|| (State::Killed, "".into()));
    session.world.files.write(&task.output_file, text.clone());
    if !session.tasks.end(&task, state) {
        return;
    }
    session.tasks.read(&task).await;
    let details = match state {
        State::Failed => Details { error: Some(text), ..Details::default() },
        _ => Details { result: Some(text), ..Details::default() },
    };
    session.notifications.ended(&task, &details);
    session.tasks.settle(&task);
}

async fn run_there(session: &Session, run: Option<RemoteRun>) -> (State, Rc<str>) {
    let Some(run) = run else { return (State::Failed, "the service has no answer for this prompt".into()) };
    let _waiting = session.handle.waiting_for("an agent on another machine");
    match run.takes {
        Some(takes) => session.handle.sleep(takes).await,
        None => std::future::pending().await,
    }
    (if run.fails { State::Failed } else { State::Completed }, run.result)
}
