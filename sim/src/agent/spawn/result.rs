//! The result of an Agent call: structured data first, then the text that the model sees (contract RESULT).

use std::fmt::Write as _;
use std::rc::Rc;

use serde::Serialize;

use crate::agent::entry::{Entry, Nature};
use crate::agent::notification::Totals;
use crate::agent::session::{Content, Outcome};
use crate::time::Duration;
use crate::wire::{Form, Usage};

/// The data of a result, tagged by `status` (RESULT-01, RESULT-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Data {
    /// A foreground agent has ended (RESULT-03).
    Completed(Completed),
    /// A background agent was launched (RESULT-04).
    AsyncLaunched(AsyncLaunched),
    /// A teammate was started (RESULT-05).
    TeammateSpawned(TeammateSpawned),
    /// An agent on another machine was launched (RESULT-06).
    RemoteLaunched(RemoteLaunched),
}

/// The result of a foreground agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// The text of its last message (RESULT-09).
    pub content: Rc<str>,
    /// Its id.
    pub agent_id: Rc<str>,
    /// Input (cached or not) and output of all its messages.
    pub total_tokens: u64,
    /// Tool calls in all its messages (RESULT-10).
    pub total_tool_use_count: u64,
    /// Time from start to end (RESULT-11).
    pub total_duration_ms: u64,
    /// Usage of all its messages (RESULT-12).
    pub usage: Spent,
    /// Its worktree, if that stays (contract WORKTREE-19).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Rc<str>>,
}

/// The result of a background launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AsyncLaunched {
    /// Its id.
    pub agent_id: Rc<str>,
    /// Its description.
    pub description: Rc<str>,
    /// Its prompt.
    pub prompt: Rc<str>,
    /// The path of its output.
    pub output_file: Rc<str>,
    /// Whether the caller has a tool to read files.
    pub can_read_output_file: bool,
}

/// The result of a teammate's start, with the field names of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeammateSpawned {
    /// Its id.
    pub teammate_id: Rc<str>,
    /// Its name, unique in its team.
    pub name: Rc<str>,
    /// Its team.
    pub team_name: Rc<str>,
}

/// The result of a launch on another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteLaunched {
    /// The id of its task.
    pub task_id: Rc<str>,
    /// Where people can watch it.
    pub session_url: Rc<str>,
    /// The path of its output.
    pub output_file: Rc<str>,
    /// Its description.
    pub description: Rc<str>,
}

/// Usage with the provider's field names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the provider's names")]
pub struct Spent {
    pub input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub output_tokens: u64,
}

/// The messages that an agent produced, as its waiter collects them.
#[derive(Clone, Default)]
pub struct Collected(Vec<Rc<Entry>>);

impl Collected {
    /// Messages of an earlier run of the same agent, without its prompt (contract SYNC-09).
    pub fn of(entries: &[Rc<Entry>]) -> Self {
        let produced = |entry: &&Rc<Entry>| entry.is_assistant() || entry.nature == Nature::Results;
        Self(entries.iter().filter(produced).cloned().collect())
    }

    /// Adds a message.
    pub fn add(&mut self, entry: &Rc<Entry>) {
        self.0.push(entry.clone());
    }

    /// Removes a withdrawn message, whose stream broke.
    pub fn strike(&mut self, uuid: &str) {
        self.0.retain(|entry| &*entry.uuid != uuid);
    }

    /// Whether the agent said anything; an error instead of an answer does not count (contract SYNC-16).
    pub fn has_spoken(&self) -> bool {
        self.0.iter().any(|entry| entry.nature == Nature::Said)
    }

    /// The error that replaced the last answer, if any.
    pub fn api_error(&self) -> Option<Rc<str>> {
        let last = self.0.iter().rev().find(|entry| entry.is_assistant())?;
        (last.nature == Nature::ApiError).then(|| last.text.clone())
    }

    /// The text of the last message of the model (RESULT-09).
    pub fn last_text(&self) -> Rc<str> {
        let said = |entry: &&Rc<Entry>| entry.nature == Nature::Said;
        self.0.iter().rev().find(said).map_or_else(|| "".into(), |entry| entry.text.clone())
    }

    /// The newest non-empty text, for an agent that was stopped (contract NOTIFY-05).
    pub fn partial_text(&self) -> Rc<str> {
        let with_text = |entry: &&Rc<Entry>| entry.nature == Nature::Said && !entry.text.trim().is_empty();
        self.0.iter().rev().find(with_text).map_or_else(|| "".into(), |entry| entry.text.clone())
    }

    /// Usage of all messages (RESULT-12).
    pub fn usage(&self) -> Usage {
        self.0.iter().fold(Usage::default(), |sum, entry| sum + entry.usage)
    }

    /// Totals of all messages and the running time (RESULT-10..12).
    pub fn totals(&self, ran: Duration) -> Totals {
        let usage = self.usage();
        let tool_uses = self.0.iter().map(|entry| entry.tool_uses.len() as u64).sum();
        let tokens = usage.total_input_tokens().saturating_add(usage.output_tokens);
        Totals { tokens, tool_uses, duration_ms: ran.as_millis() }
    }

    /// The data of a run that has ended (`finalizeAgentTool`, contract SYNC-04).
    pub fn finalise(&self, agent: &Rc<str>, ran: Duration) -> Completed {
        let totals = self.totals(ran);
        let usage = self.usage();
        Completed {
            content: self.last_text(),
            agent_id: agent.clone(),
            total_tokens: totals.tokens,
            total_tool_use_count: totals.tool_uses,
            total_duration_ms: totals.duration_ms,
            usage: Spent {
                input_tokens: usage.input_tokens,
                cache_read_input_tokens: usage.cache_read_input_tokens,
                cache_creation_input_tokens: usage.cache_creation_input_tokens(),
                output_tokens: usage.output_tokens,
            },
            worktree: None,
        }
    }
}

impl Data {
    /// The status in logs (RESULT-02).
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::AsyncLaunched(_) => "async_launched",
            Self::TeammateSpawned(_) => "teammate_spawned",
            Self::RemoteLaunched(_) => "remote_launched",
        }
    }

    /// The text that the model sees (`mapToolResultToToolResultBlockParam`, RESULT-01). Id and totals are omitted for
    /// an agent that is never continued (RESULT-08, G29).
    pub fn outcome(&self, one_shot: bool) -> Outcome {
        let content = match self {
            Self::Completed(completed) => completed.text(one_shot).into(),
            Self::AsyncLaunched(launched) => Content::Formed(launched.form()),
            Self::TeammateSpawned(spawned) => spawned.text().into(),
            Self::RemoteLaunched(launched) => launched.text().into(),
        };
        Outcome { content, is_error: false }
    }
}

impl Completed {
    fn text(&self, one_shot: bool) -> String {
        let said: &str =
            if self.content.trim().is_empty() { "(the agent ended without a text)" } else { &self.content };
        let mut text = said.to_owned();
        if let Some(path) = &self.worktree {
            let _ = write!(text, "\n\nIts worktree stays, for you to merge, review or discard: {path}");
        }
        if !one_shot {
            // Writing into a string never fails.
            let _ = write!(
                text,
                "\n\nagentId: {} (SendMessage to this id continues the agent)\n<usage>total_tokens: {}, tool_uses: {}, \
                 duration_ms: {}</usage>",
                self.agent_id, self.total_tokens, self.total_tool_use_count, self.total_duration_ms
            );
        }
        text
    }
}

/// The text of a background launch, around the id of the agent and the path of its output.
macro_rules! launched {
    ($how:literal) => {
        [
            "The agent runs in the background.\nagentId: ",
            "\noutput_file: ",
            concat!(
                "\nHow it ends is not known yet: do not guess. A notification will bring its result; go on with other work, or \
                 end your turn. ",
                $how
            ),
        ]
    };
}

/// If the caller can read files, and if it cannot.
static LAUNCHED: [[&str; 3]; 2] = [
    launched!("Its output so far can be read from the file at any time."),
    launched!("You have no tool that reads the file."),
];

impl AsyncLaunched {
    fn form(&self) -> Form {
        let [read, blind] = &LAUNCHED;
        let parts = if self.can_read_output_file { read } else { blind };
        Form { parts, words: [self.agent_id.clone(), self.output_file.clone()] }
    }
}

impl TeammateSpawned {
    fn text(&self) -> String {
        format!(
            "The teammate works.\nteammate_id: {}\nname: {}\nteam_name: {}\nIt writes when it has something for you, and goes \
             on with what you send it with SendMessage.",
            self.teammate_id, self.name, self.team_name
        )
    }
}

impl RemoteLaunched {
    fn text(&self) -> String {
        format!(
            "The agent runs on another machine.\ntaskId: {}\nsessionUrl: {}\noutput_file: {}\nA notification will bring its \
             result.",
            self.task_id, self.session_url, self.output_file
        )
    }
}
