//! What foreground and background waiting share: collect messages, count, write the output file, and judge the end.

use std::rc::Rc;

use super::result::{AsyncLaunched, Collected, Data};
use super::run::{AgentRun, Produced};
use super::teammate;
use super::worktree::Worktree;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::notification::Totals;
use crate::agent::query::{Ended, Reason};
use crate::agent::session::Context;
use crate::agent::session::Session;
use crate::agent::session::{Call, Outcome};
use crate::agent::task::{Kind, Launch, State, Task, output};

/// Waits for an agent.
pub struct Waiter {
    /// The session.
    pub session: Rc<Session>,
    /// The agent's task.
    pub task: Rc<Task>,
    /// The agent.
    pub run: AgentRun,
    /// The messages so far.
    pub collected: Collected,
    /// The agent's worktree, if it works in one.
    pub worktree: Option<Rc<Worktree>>,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended normally, or at its turn limit (contract G11).
    Done,
    /// It was stopped.
    Stopped,
    /// It failed, with the reason.
    Failed(Rc<str>),
}

impl Verdict {
    /// That of an agent which produced these messages.
    pub fn of(collected: &Collected, ended: &Ended) -> Self {
        match (ended.reason, collected.api_error()) {
            (Reason::Aborted, _) => Self::Stopped,
            (_, Some(error)) => Self::Failed(error),
            (Reason::ModelError, None) => {
                Self::Failed(ended.error.clone().unwrap_or_else(|| "the model gave no answer".into()))
            }
            (Reason::Completed | Reason::StopHookPrevented | Reason::MaxTurns, None) => Self::Done,
        }
    }

    /// The final state of its task.
    pub const fn state(&self) -> State {
        match self {
            Self::Done => State::Completed,
            Self::Stopped => State::Killed,
            Self::Failed(_) => State::Failed,
        }
    }

    /// The event for a host program (contract SYNC-21).
    pub const fn sdk(&self) -> &'static str {
        match self {
            Self::Done => "completed",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }
}

impl Waiter {
    /// Processes what the agent produced; returns the message, if it is one.
    pub fn take(&mut self, produced: Produced) -> Option<Rc<Entry>> {
        match produced {
            Produced::Message(entry) => {
                self.task.advance(entry.tool_uses.len(), entry.usage);
                self.collected.add(&entry);
                if entry.nature == Nature::Said && !entry.text.trim().is_empty() {
                    output::append(&self.session.world.files, &self.task, &format!("{}\n", entry.text));
                }
                Some(entry)
            }
            Produced::Struck(uuid) => {
                self.collected.strike(&uuid);
                None
            }
        }
    }

    /// Judges the end of the agent.
    pub fn judge(&self, ended: &Ended) -> Verdict {
        Verdict::of(&self.collected, ended)
    }

    /// Sets the task's final state before any slow work (contract ASYNC-09), closes its output file and notifies a host
    /// program.
    pub fn end(&self, verdict: &Verdict) {
        let state = verdict.state();
        if !self.session.tasks.end(&self.task, state) {
            return;
        }
        if let Verdict::Failed(why) = verdict {
            self.session.emit(&Event::AgentFailed { agent: self.task.id.clone(), why: why.clone() });
        }
        output::append(&self.session.world.files, &self.task, &format!("[{}]\n", state.name()));
        teammate::close(self, verdict);
        self.session.kept.keep(&self.run.context, &self.task.description, self.worktree.is_some());
        for message in self.task.take_messages() {
            self.session.notifications.message_returned(&self.task, &message);
        }
        // Notifications of its own background tasks that it did not read go to the main thread (contract QUEUE-16).
        self.session.queue.hand_over(&self.task.id);
    }

    /// Totals so far.
    pub fn totals(&self) -> Totals {
        self.collected.totals(self.task.ran(self.session.now()))
    }

    /// Reports the cleanup step `step` (contract SYNC-18..23).
    pub fn cleaned(&self, step: &'static str) {
        self.session.emit(&Event::Cleanup { agent: self.task.id.clone(), step });
    }

    /// Notifies a host program of the agent's progress or end (contract SYNC-03, SYNC-21).
    pub fn sdk(&self, kind: &'static str) {
        self.session.emit(&Event::Sdk { agent: self.task.id.clone(), kind });
    }
}

/// Registers the task of agent `context` (contract SYNC-06, ASYNC-03).
pub fn register(call: &Call, description: &Rc<str>, context: &Context, background: bool) -> Rc<Task> {
    let session = &call.context.session;
    let launch = Launch {
        id: context.agent.clone(),
        kind: if context.teammate.is_some() { Kind::Teammate } else { Kind::Agent },
        description: description.clone(),
        tool_use: call.tool_use.id.clone(),
        owner: call.context.own_id(),
        output_file: output::path(&session.settings, &context.agent),
        abort: context.abort.clone(),
        background,
    };
    session.tasks.register(launch)
}

/// The result of a background launch (contract ASYNC-03, RESULT-04).
pub fn launched(call: &Call, prompt: &Rc<str>, task: &Task, one_shot: bool) -> Outcome {
    let data = Data::AsyncLaunched(AsyncLaunched {
        agent_id: task.id.clone(),
        description: task.description.clone(),
        prompt: prompt.clone(),
        output_file: task.output_file.clone(),
        can_read_output_file: call.context.pool().get("Read").is_some(),
    });
    give(call, &task.id, &data, Totals::default(), one_shot)
}

/// Returns a result and emits it as an event.
pub fn give(call: &Call, agent: &Rc<str>, data: &Data, totals: Totals, one_shot: bool) -> Outcome {
    let Totals { tokens, tool_uses, duration_ms } = totals;
    let agent = agent.clone();
    let tool_use = call.tool_use.id.clone();
    let status = data.status();
    call.context.emit(&Event::AgentResult { agent, tool_use, status, tokens, tool_uses, duration_ms });
    data.outcome(one_shot)
}
