//! Notifications of ended background tasks (contract NOTIFY): one escaped element per task, with its fields in a fixed
//! order.
//!
//! The element is text that a model reads in a later turn. It never changes the result of the call that launched the
//! task (LIFE-07).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

use super::event::Event;
use super::ground::Ground;
use super::queue::{Item, Queue};
use super::task::{Kind, Message, Report, State, Task, Tasks};
use super::team::{Content, Letter};

/// Details of a notification that the task's record does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Final text, or the partial text if the task was killed (NOTIFY-05); `None` for shells.
    pub result: Option<Rc<str>>,
    /// Why it failed (NOTIFY-07), or a shell's exit code.
    pub error: Option<Rc<str>>,
    /// Totals of an agent (NOTIFY-06).
    pub usage: Option<Totals>,
    /// The agent's worktree, if that stays (contract WORKTREE-19).
    pub worktree: Option<Rc<str>>,
}

/// Totals of an agent's run (NOTIFY-06, RESULT-03).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Input (cached or not) and output of all its messages.
    pub tokens: u64,
    /// Tool calls in all its messages.
    pub tool_uses: u64,
    /// Time from start to end.
    pub duration_ms: u64,
}

/// Notifies the agents of a session about their background tasks.
pub struct Notifications {
    ground: Rc<Ground>,
    queue: Rc<Queue>,
    tasks: Rc<Tasks>,
}

impl Notifications {
    /// Notifications about these tasks, sent through this queue.
    pub const fn new(ground: Rc<Ground>, queue: Rc<Queue>, tasks: Rc<Tasks>) -> Self {
        Self { ground, queue, tasks }
    }

    /// Reports the end of a background task unless it was already reported (NOTIFY-10) or read (NOTIFY-11). Returns
    /// whether it was reported now.
    pub fn ended(&self, task: &Task, told: &Details) -> bool {
        if !task.claim_report(Report::Enqueued) {
            self.ground.emit(&Event::NotifySuppressed { task: task.id.clone() });
            return false;
        }
        let status = task.state().name();
        self.ground.emit(&Event::Notified { task: task.id.clone(), tool_use: task.tool_use.clone(), status });
        self.enqueue_pending(task, &element(task, Some(status), &summary(task, told.error.as_deref()), told));
        true
    }

    /// A background shell or monitor ended: sets the final state of its task, reports it and settles the task
    /// (NOTIFY-14, QUEUE-07). `error` says how it failed: an exit code, a signal.
    pub async fn shell_ended(&self, task: &Task, state: State, error: Option<&str>) {
        if self.tasks.end(task, state) {
            self.tasks.read(task).await;
            self.ended(task, &Details { error: error.map(Rc::from), ..Details::default() });
            self.tasks.settle(task);
        }
    }

    /// A background shell or monitor makes no progress, perhaps because it waits for input. The report has no status,
    /// because the task still runs (NOTIFY-14, QUEUE-07).
    pub fn shell_stuck(&self, task: &Task, why: &str) {
        if task.state() != State::Running {
            return;
        }
        self.ground.emit(&Event::Stuck { task: task.id.clone() });
        let summary = format!("{} \"{}\" stands still: {why}", noun(task.kind), task.description);
        self.enqueue_pending(task, &element(task, None, &summary, &Details::default()));
    }

    /// The agent of `task` ended before it took this message: its sender gets the reason.
    pub fn message_returned(&self, task: &Task, message: &Message) {
        let why = task.state().name();
        self.ground.emit(&Event::MessageReturned { agent: task.id.clone(), message: message.number, why });
        let mut text = String::from("<message-returned>\n");
        field(&mut text, "to", &task.id);
        field(&mut text, "why", &format!("the agent ended before it took the message: it is {why}"));
        field(&mut text, "message", &message.text);
        text.push_str("</message-returned>");
        let sender = Some(message.from.clone()).filter(|from| self.tasks.is_running(from));
        self.queue.enqueue(Item::notification(sender, &text, "message"));
    }

    /// A teammate wrote to the leader, its poller has read it (contract SWARM-03).
    pub fn letter(&self, letter: &Letter) {
        let mut text = String::from("<teammate-message>\n");
        field(&mut text, "from", &letter.from);
        field(&mut text, "kind", letter.content.kind());
        let (content, state) = match &letter.content {
            Content::Message { text } | Content::Idle { text } => (text, None),
            Content::Left { state, text } => (text, Some(state)),
            Content::PermissionRequest { .. } | Content::PermissionReply { .. } => return,
        };
        if let Some(state) = state {
            field(&mut text, "state", state);
        }
        field(&mut text, "text", content);
        text.push_str("</teammate-message>");
        let message = matches!(letter.content, Content::Message { .. }).then_some(letter.number);
        self.queue.enqueue(Item { message, ..Item::notification(None, &text, "mailbox") });
    }

    /// The agent of a skill ended that nothing waits for: its text is a hidden prompt for the main thread (SLASH-07).
    pub fn command_ended(&self, skill: &str, text: &str) {
        let mut prompt = String::from("<command-result>\n");
        field(&mut prompt, "command-name", &format!("/{skill}"));
        field(&mut prompt, "result", text);
        prompt.push_str("</command-result>");
        self.queue.enqueue(Item::hidden(&prompt, "slash"));
    }

    /// Enqueues a notification (`enqueuePendingNotification`, NOTIFY-09) after all typed input (QUEUE-05), for the
    /// agent that launched the task while it runs, otherwise for the main thread.
    fn enqueue_pending(&self, task: &Task, text: &str) {
        let source = match task.kind {
            Kind::Agent => "agent",
            Kind::Shell => "shell",
            Kind::Monitor => "monitor",
            Kind::Teammate => "mailbox",
            Kind::Remote => "remote",
        };
        let agent = task.owner.clone().filter(|owner| self.tasks.is_running(owner));
        self.queue.enqueue(Item::notification(agent, text, source));
    }
}

/// The element with its children in order (NOTIFY-02).
fn element(task: &Task, status: Option<&str>, summary: &str, told: &Details) -> String {
    let mut text = String::from("<task-notification>\n");
    field(&mut text, "task-id", &task.id);
    field(&mut text, "tool-use-id", &task.tool_use);
    field(&mut text, "output-file", &task.output_file);
    if let Some(status) = status {
        field(&mut text, "status", status);
    }
    field(&mut text, "summary", summary);
    if let Some(result) = &told.result {
        field(&mut text, "result", result);
    }
    if let Some(Totals { tokens, tool_uses, duration_ms }) = told.usage {
        // Writing into a string never fails.
        let _ = writeln!(
            text,
            "<usage><total_tokens>{tokens}</total_tokens><tool_uses>{tool_uses}</tool_uses>\
             <duration_ms>{duration_ms}</duration_ms></usage>"
        );
    }
    if let Some(path) = &told.worktree {
        field(&mut text, "worktree", path);
    }
    text.push_str("</task-notification>");
    text
}

/// A child element. Its text can neither end the element nor be read as a tag (G09).
fn field(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "<{name}>{}</{name}>", escape(value));
}

/// Escapes text inside an element.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return text.into();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").into()
}

/// One line for people: the task, and how it ended (NOTIFY-04).
fn summary(task: &Task, error: Option<&str>) -> String {
    let how = match task.state() {
        State::Running => "runs",
        State::Completed => "completed",
        State::Failed => "failed",
        State::Killed => "was stopped",
    };
    let why = error.map_or_else(String::new, |error| format!(": {error}"));
    format!("{} \"{}\" {how}{why}", noun(task.kind), task.description)
}

const fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "Agent",
        Kind::Shell => "Background command",
        Kind::Monitor => "Monitor",
        Kind::Teammate => "Teammate",
        Kind::Remote => "Remote agent",
    }
}
