//! The items of a conversation. Places are lines of the thread's file; contents are sizes, kinds and digests. Text is kept only
//! if a caller asks for it ([`Wording`]).

use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::{BlockKind, number};
use forkcast_sim::words;
use forkcast_tokens::Class;
use serde::{Deserialize, Serialize};

use super::id::content_digest;
use super::shared;
use crate::exchange::RecordedUsage;

/// An event of a conversation, with its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Item {
    /// Line in the file, counted from one; the number of the record if the format has no lines.
    pub line: u32,
    /// When it was recorded, if the file has instants.
    pub at: Option<Instant>,
    /// The event.
    pub what: What,
}

impl Item {
    /// The answer, if it is one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.what {
            What::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    /// The blocks that it added to the conversation.
    pub fn parts(&self) -> &[Part] {
        match &self.what {
            What::Input(input) => &input.parts,
            What::Answer(answer) => &answer.parts,
            What::Sign(_) => &[],
        }
    }
}

/// The kinds of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum What {
    /// Blocks of the next request.
    Input(Input),
    /// A request and its answer.
    Answer(Box<Answer>),
    /// A sign that the client changed something, or that something happened around the conversation.
    Sign(Sign),
}

/// Blocks of the next request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Their origin.
    pub origin: InputOrigin,
    /// The blocks in order.
    pub parts: Vec<Part>,
    /// The blocks as recorded, in step with `parts`; empty unless content is kept.
    pub wording: Vec<Wording>,
}

/// A block as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// Its JSON: a block, a string, or the client's own object for an attachment.
    pub json: Box<str>,
    /// When it was recorded.
    pub at: Option<Instant>,
}

impl Wording {
    /// The block with this JSON.
    pub fn new(json: &[u8], at: Option<Instant>) -> Self {
        Self { json: String::from_utf8_lossy(json).into(), at }
    }
}

/// The origin of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputOrigin {
    /// A person wrote it: a turn begins.
    Prompt,
    /// Results of tools.
    ToolResults,
    /// Text that the client added for a command or a skill (`isMeta`).
    Injected,
    /// A notification of a background task.
    Notification,
    /// A command that the client itself ran, or its output: part of the next prompt, begins no turn.
    Command,
    /// The client's own note that the user interrupted.
    Interruption,
    /// Anything else that the client attached: reminders, files, lists.
    Attachment,
    /// The summary that replaces compacted content.
    Summary,
    /// The task of a sub-agent.
    Directive,
}

/// One block, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its kind.
    pub kind: BlockKind,
    /// Length of its JSON in bytes, as written in the transcript.
    pub bytes: u32,
    /// The class of its text, by which tokenizers differ.
    pub class: Class,
    /// Tokens of its text in o200k, from which those of other tokenizers are estimated; zero unless sizes are counted.
    pub tokens: u32,
    /// Tokens that do not depend on the tokenizer: images, documents, hidden thinking; zero unless sizes are counted.
    pub fixed_tokens: u32,
    /// Hash of the id that connects a call and its result; zero for other blocks.
    pub call: u64,
    /// Hash of its JSON, to recognise equal blocks in any file; zero if only its size is known. A number of fixed length is
    /// packed smaller than one of variable length.
    #[serde(with = "postcard::fixint::le")]
    pub digest: u64,
}

impl Part {
    /// The block with this JSON in the file.
    pub fn of(kind: BlockKind, json: &[u8]) -> Self {
        Self { digest: content_digest(json), ..Self::sized(kind, number(json.len())) }
    }

    /// A block whose only known property is its size.
    pub const fn sized(kind: BlockKind, bytes: u32) -> Self {
        Self { kind, bytes, class: Class::Prose, tokens: 0, fixed_tokens: 0, call: 0, digest: 0 }
    }
}

/// One request and its answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Hash of the provider's id of the answer (`message.id`); copies of one answer have equal ones. If a format has no ids,
    /// hash of the place, so that nothing is a copy.
    pub id: u128,
    /// The same answer is elsewhere in the input and is counted there. Here it is history.
    pub copied: bool,
    /// The model as spelled.
    #[serde(deserialize_with = "shared::name")]
    pub model: Arc<str>,
    /// The client's version, if the file has it.
    #[serde(deserialize_with = "shared::optional")]
    pub version: Option<Arc<str>>,
    /// When the request was sent, as far as the file shows: the instant of the item before it.
    pub sent_at: Option<Instant>,
    /// When its first part was recorded.
    pub first_at: Option<Instant>,
    /// When its last part was recorded.
    pub ended_at: Option<Instant>,
    /// The provider's usage, if the file has it.
    pub usage: Option<RecordedUsage>,
    /// Tokens of the prompt by length, if the file has the prompt but no usage.
    pub estimated_input_tokens: Option<u64>,
    /// How the output was counted.
    pub output: OutputCount,
    /// Why the answer ended.
    pub stop: Stop,
    /// The blocks of the answer, which are part of the next request.
    pub parts: Vec<Part>,
    /// The blocks as recorded, in step with `parts`; empty unless content is kept.
    pub wording: Vec<Wording>,
    /// The tools that it called.
    pub calls: Vec<Call>,
    /// The provider's own explanation of a miss.
    pub diagnosis: Option<Diagnosis>,
    /// The requested effort, if the file has it.
    #[serde(deserialize_with = "shared::optional")]
    pub effort: Option<Arc<str>>,
    /// Failed attempts before it.
    pub retries: u32,
    /// It was not streamed: several of its blocks were recorded at once.
    pub at_once: bool,
}

impl Answer {
    /// An answer with only an id and a model.
    pub fn of(id: u128, model: Arc<str>) -> Self {
        Self { id, model, ..Self::default() }
    }

    /// Tokens of its prompt, as recorded or by length; `None` if neither is known.
    pub fn prompt_tokens(&self) -> Option<u64> {
        let recorded = self.usage.map(|recorded| recorded.usage.total_input_tokens()).filter(|tokens| *tokens > 0);
        recorded.or(self.estimated_input_tokens)
    }
}

/// How the output of an answer was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputCount {
    /// The provider's final count.
    #[default]
    Final,
    /// Only the count at the start of the stream; `estimated_tokens` is estimated from the length of text and thinking.
    StreamStart {
        /// The estimate.
        estimated_tokens: u32,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It calls tools: their results follow.
    ToolUse,
    /// The turn is over.
    EndTurn,
    /// The limit of output.
    MaxTokens,
    /// Anything else, or an unknown reason without calls.
    #[default]
    Other,
}

impl Stop {
    /// The reason for an answer with these calls, if the file has none.
    pub(crate) const fn after(calls: &[Call]) -> Self {
        if calls.is_empty() { Self::EndTurn } else { Self::ToolUse }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The tool's name.
    #[serde(deserialize_with = "shared::name")]
    pub tool: Arc<str>,
    /// Hash of the call's id, as in [`Part::call`].
    pub id: u64,
    /// The sub-agent that it starts, if any.
    pub spawn: Option<Box<Spawn>>,
}

/// The start of a sub-agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spawn {
    /// The requested kind of agent (`subagent_type`).
    pub kind: Option<Arc<str>>,
    /// It should run in the background.
    pub background: bool,
    /// It works in a worktree of its own.
    pub worktree: bool,
    /// It continues an earlier agent's conversation.
    pub resumes: Option<Arc<str>>,
}

words! {
    /// How a sub-agent ran.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum SpawnMode: word {
        /// The caller waited.
        Sync = "sync",
        /// The caller continued.
        Background = "background",
    }
}

/// The result of a spawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpawnResult {
    /// The call, as in [`Part::call`].
    pub call: u64,
    /// The agent's id.
    pub agent: Arc<str>,
    /// How it ran.
    pub mode: SpawnMode,
    /// All tokens of the agent according to the client; for information only.
    pub total_tokens: Option<u64>,
}

/// The state of thinking that a prompt requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Thinking {
    /// Without.
    Off,
    /// With, at a budget or level: its hash, so that equal ones are equal.
    On(u64),
}

/// The provider's own explanation of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Its kind.
    pub kind: DiagnosisKind,
    /// The provider's estimate of the missed tokens.
    pub missed_tokens: Option<u64>,
}

/// The kinds of the provider's diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DiagnosisKind {
    /// `system_changed`
    SystemChanged,
    /// `tools_changed`
    ToolsChanged,
    /// `messages_changed`
    MessagesChanged,
    /// `model_changed`
    ModelChanged,
    /// `previous_message_not_found`
    PreviousMessageNotFound,
    /// `unavailable`: no statement.
    Unavailable,
    /// Any other word.
    Other,
}

/// An operation of the client's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStep {
    /// The client's word: `enqueue`, `dequeue`, `remove`, `popAll`.
    pub operation: Box<str>,
    /// The text of the entry, if it is recorded.
    pub text: Option<Box<str>>,
}

/// A sign of what the client did between requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Sign {
    /// The next prompt (or the turn that it begins) requests this state of thinking.
    Thinking(Thinking),
    /// The client was restarted on this conversation: a hook shows it, or the user left and a synthetic answer followed.
    Restarted,
    /// A prompt that begins a turn did not pass the client's queue although this version uses one for all prompts, and no
    /// hook ran at the end of the previous turn: it is the first one after a restart.
    Unqueued,
    /// An answer that the client itself wrote, without a request.
    Synthetic,
    /// A command that the client itself runs, by name (`exit`, `model`, `compact`).
    Command(Arc<str>),
    /// The hooks at the end of a turn ran.
    StopHooks,
    /// The client asked for a summary of the session while the user was away: a hidden request on the same prompt.
    AwaySummary,
    /// A server of tools was connected again by a command.
    Reconnected,
    /// A hook that ran after a tool added text to the conversation.
    HookContext,
    /// The session is that of a teammate: another agent's session started it and writes to it.
    Teammate,
    /// The conversation was cleared.
    Cleared,
    /// Everything so far was replaced by a summary.
    Compacted {
        /// Size of the prompt before, according to the client.
        before_tokens: Option<u64>,
        /// The client started it.
        automatic: bool,
    },
    /// Results of old tool calls were cleared.
    MicroCompacted {
        /// Saved tokens according to the client.
        saved_tokens: Option<u64>,
        /// The number of results.
        results: u32,
    },
    /// The conversation continues after an earlier item: `to` is its index among the thread's items (the last one kept),
    /// `None` if it starts over.
    Rewound {
        /// The last item kept.
        to: Option<u32>,
    },
    /// The permission mode of the next prompts is `plan` (or no longer).
    PlanMode(bool),
    /// The user interrupted an answer, or withdrew a prompt before its answer.
    Interrupted,
    /// A prompt or a notification was put into the queue.
    Enqueued,
    /// An operation of the queue with its text; only if content is kept.
    Queue(Box<QueueStep>),
    /// A request failed; the client tries again.
    Failed {
        /// HTTP status.
        status: Option<u16>,
        /// The number of the attempt, counted from one.
        attempt: u32,
        /// Milliseconds until the next attempt.
        retry_in_ms: Option<u64>,
    },
    /// A sub-agent was started or ended.
    Spawned(Box<SpawnResult>),
    /// A sub-agent reported: hash of its call, and its id.
    Notified {
        /// The call, as in [`Part::call`]; zero if the notification names none.
        call: u64,
        /// The agent's or task's id.
        task: Arc<str>,
    },
    /// The list of tools that are loaded on request has grown (`deferred_tools_delta`, `mcp_instructions_delta`, …): the word
    /// of the transcript.
    ToolsAnnounced(Arc<str>),
    /// The turn ended, according to the client.
    TurnEnded {
        /// Its duration.
        duration_ms: Option<u64>,
    },
}
