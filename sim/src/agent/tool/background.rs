//! Background commands, and monitors (contract NOTIFY-14, QUEUE-07).

use std::pin::pin;
use std::rc::Rc;

use crate::agent::abort::Abort;
use crate::agent::session::Context;
use crate::agent::task::{Kind, Launch, State, Task, output};
use crate::agent::world::shell::{Command, Ran};

/// Starts `command` in the background of `context`, for the call `tool_use`. Its output is written to the task's file
/// when it has ended.
pub fn start(context: &Rc<Context>, tool_use: &Rc<str>, kind: Kind, command: &str, description: &str) -> Rc<Task> {
    let session = &context.session;
    let id = session.ids.next(kind.name());
    let launch = Launch {
        output_file: output::path(&session.settings, &id),
        kind,
        description: description.into(),
        tool_use: tool_use.clone(),
        owner: context.own_id(),
        abort: Abort::default(),
        background: true,
        id,
    };
    let task = session.tasks.register(launch);
    session.world.files.write(&task.output_file, "");
    let behind = Behind {
        context: context.clone(),
        cwd: context.cwd.borrow().clone(),
        task: task.clone(),
        command: command.into(),
    };
    session.handle.spawn(task.id.clone(), behind.run());
    task
}

struct Behind {
    context: Rc<Context>,
    cwd: Rc<str>,
    task: Rc<Task>,
    command: Rc<str>,
}

impl Behind {
    async fn run(self) {
        let session = self.context.session.clone();
        let command = Command::begin(&session, &self.context.world, &self.context.agent, &self.cwd, &self.command);
        let abort = self.task.abort();
        let ended = crate::select! {
            () = abort.given() => None,
            ran = self.watched(&command) => Some(ran),
        };
        let (state, error) = match ended {
            None => (State::Killed, None),
            Some(Ran { output, exit_code }) => {
                session.world.files.write(&self.task.output_file, output);
                match exit_code {
                    0 => (State::Completed, None),
                    code => (State::Failed, Some(format!("exit code {code}"))),
                }
            }
        };
        session.notifications.shell_ended(&self.task, state, error.as_deref()).await;
    }

    /// Waits for the end, and reports if the command is stuck.
    async fn watched(&self, command: &Command<'_>) -> Ran {
        let mut end = pin!(command.end());
        if let Some(after) = command.stuck_after() {
            let session = &self.context.session;
            crate::select! {
                ran = &mut end => return ran,
                () = session.handle.sleep(after) => {
                    session.notifications.shell_stuck(&self.task, "it has said nothing for a while");
                }
            }
        }
        end.await
    }
}
