//! What a conversation is made of. Places are lines of the thread's file; contents are sizes, kinds and digests, never text.

use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use forkcast_tokens::Class;
use serde::{Deserialize, Serialize};

use super::id::content_digest;
use crate::exchange::RecordedUsage;

/// One thing that happened, with its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Item {
    /// Line in the file, counted from one; the number of the record where the format has no lines.
    pub line: u32,
    /// When it was written down, where the file says so.
    pub at: Option<Instant>,
    /// What it was.
    pub what: What,
}

impl Item {
    /// The answer that it is, if it is one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.what {
            What::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    /// What it put into the conversation.
    pub fn parts(&self) -> &[Part] {
        match &self.what {
            What::Input(input) => &input.parts,
            What::Answer(answer) => &answer.parts,
            What::Sign(_) => &[],
        }
    }
}

/// What happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum What {
    /// Something that stands in the next request.
    Input(Input),
    /// A request was made and answered.
    Answer(Box<Answer>),
    /// The client shows that it changed something, or that something happened around the conversation.
    Sign(Sign),
}

/// Blocks that stand in the next request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Where they come from.
    pub origin: InputOrigin,
    /// The blocks in order.
    pub parts: Vec<Part>,
}

/// Where input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputOrigin {
    /// A person wrote it: a turn begins.
    Prompt,
    /// Results of tools.
    ToolResults,
    /// Text that the client put in by itself on behalf of a command or a skill (`isMeta`).
    Injected,
    /// News of a background task.
    Notification,
    /// A command that the client ran by itself, or what it printed: part of the next prompt, begins no turn.
    Command,
    /// The client's own note that the user interrupted.
    Interruption,
    /// Anything else that the client attached: reminders, files, lists.
    Attachment,
    /// The summary that stands for what was compacted.
    Summary,
    /// What a sub-agent was told.
    Directive,
}

/// One block, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub kind: BlockKind,
    /// Length of its JSON in bytes, as written in the transcript.
    pub bytes: u32,
    /// What its text is, as far as tokenizers differ in it.
    pub class: Class,
    /// Tokens of its text in o200k, from which those of other tokenizers are estimated; zero where nobody asked for counted
    /// sizes.
    pub tokens: u32,
    /// Tokens that no tokenizer decides: images, documents, hidden thinking; zero where nobody asked.
    pub fixed_tokens: u32,
    /// Hash of the id that ties a call and its result together; zero for other blocks.
    pub call: u64,
    /// Hash of its JSON, by which equal blocks are known in any file; zero where only its size is known. A number of fixed
    /// length packs smaller than one that has all lengths.
    #[serde(with = "postcard::fixint::le")]
    pub digest: u64,
}

impl Part {
    /// The block that stands as `json` in the file.
    pub fn of(kind: BlockKind, json: &[u8]) -> Self {
        Self { digest: content_digest(json), ..Self::sized(kind, u32::try_from(json.len()).unwrap_or(u32::MAX)) }
    }

    /// A block of which only the size is known.
    pub const fn sized(kind: BlockKind, bytes: u32) -> Self {
        Self { kind, bytes, class: Class::Prose, tokens: 0, fixed_tokens: 0, call: 0, digest: 0 }
    }
}

/// One request and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Hash of the provider's id of the answer (`message.id`); copies of one answer have equal ones. Where a format has no
    /// ids: hash of the place, so that nothing is a copy.
    pub id: u128,
    /// The same answer stands elsewhere in the input and is counted there. It is history here.
    pub copied: bool,
    /// The model as spelled.
    pub model: Arc<str>,
    /// The client's version, where the file says so.
    pub version: Option<Arc<str>>,
    /// When the request was sent, as far as the file shows: the instant of what came before it.
    pub sent_at: Option<Instant>,
    /// When its first part was written down.
    pub first_at: Option<Instant>,
    /// When its last part was written down.
    pub ended_at: Option<Instant>,
    /// What the provider reported; `None` where the file has nothing.
    pub usage: Option<RecordedUsage>,
    /// How the output was counted.
    pub output: OutputCount,
    /// Why the answer ended.
    pub stop: Stop,
    /// The blocks of the answer, which stand in the next request.
    pub parts: Vec<Part>,
    /// The tools that it called.
    pub calls: Vec<Call>,
    /// What the provider itself says about a miss.
    pub diagnosis: Option<Diagnosis>,
    /// Effort that the request asked for, where the file says so.
    pub effort: Option<Arc<str>>,
    /// How many attempts failed before.
    pub retries: u32,
    /// It came whole and not as a stream: several of its blocks were written down at once.
    pub at_once: bool,
}

/// How the output of an answer was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputCount {
    /// The provider's final count.
    #[default]
    Final,
    /// Only what the stream had come to at its start; `estimated_tokens` is taken from the length of text and thinking.
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
    /// Anything else, or nothing is said and no tool is called.
    #[default]
    Other,
}

impl Stop {
    /// Why an answer ended that calls these tools, where nothing else is said.
    pub(crate) const fn after(calls: &[Call]) -> Self {
        if calls.is_empty() { Self::EndTurn } else { Self::ToolUse }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The tool's name.
    pub tool: Arc<str>,
    /// Hash of the call's id, as in [`Part::call`].
    pub id: u64,
    /// The sub-agent that it starts, where it does.
    pub spawn: Option<Box<Spawn>>,
}

/// A sub-agent is started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spawn {
    /// What kind of agent was asked for (`subagent_type`).
    pub kind: Option<Arc<str>>,
    /// It was asked to run in the background.
    pub background: bool,
    /// It works in a worktree of its own.
    pub worktree: bool,
    /// It goes on with an earlier agent's conversation.
    pub resumes: Option<Arc<str>>,
}

/// How a sub-agent ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpawnMode {
    /// The caller waited.
    Sync,
    /// The caller went on.
    Background,
}

/// What became of a spawn, as its result says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpawnResult {
    /// The call, as in [`Part::call`].
    pub call: u64,
    /// The agent's id.
    pub agent: Arc<str>,
    /// How it ran.
    pub mode: SpawnMode,
    /// All tokens of the agent, by the client's own account; of information only.
    pub total_tokens: Option<u64>,
}

/// The state of thinking that a prompt asks for.
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
    /// Its word.
    pub kind: DiagnosisKind,
    /// Tokens that it says were missed: an estimate of the provider's.
    pub missed_tokens: Option<u64>,
}

/// The words of the provider's diagnosis.
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
    /// A word that this table does not know.
    Other,
}

/// Something that shows what the client did between requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Sign {
    /// The prompt that follows (or the turn that it begins) asks for this state of thinking.
    Thinking(Thinking),
    /// The client was started anew on this conversation: a hook says so, or the user left and an answer of the client's own
    /// came after it.
    Restarted,
    /// A prompt that begins a turn did not pass the client's queue although this version uses one for all prompts, and no
    /// hook ran at the end of the turn before: it is the first one after a restart.
    Unqueued,
    /// An answer that the client wrote by itself, without a request.
    Synthetic,
    /// A command that the client runs by itself, by name (`exit`, `model`, `compact`).
    Command(Arc<str>),
    /// The hooks of a turn's end ran.
    StopHooks,
    /// The conversation was cleared.
    Cleared,
    /// A command goes on in the background.
    BackgroundCommand,
    /// Everything so far was replaced by a summary. `before_tokens` as the client says.
    Compacted {
        /// Size of the prompt before.
        before_tokens: Option<u64>,
        /// The client did it by itself.
        automatic: bool,
    },
    /// Results of old tool calls were cleared.
    MicroCompacted {
        /// What the client says it saved.
        saved_tokens: Option<u64>,
        /// How many results.
        results: u32,
    },
    /// The conversation goes on behind an earlier item: `to` is its index among the thread's items (the last one kept),
    /// `None` where it begins anew.
    Rewound {
        /// The last item kept.
        to: Option<u32>,
    },
    /// What follows was answered in another file and copied: the session was resumed or forked from there.
    Resumed,
    /// Permission mode of the prompts that follow is `plan` (or no longer).
    PlanMode(bool),
    /// The user interrupted an answer, or a prompt was taken back before its answer.
    Interrupted,
    /// A prompt or a notification was put into the queue.
    Enqueued,
    /// A request failed; the client tries again.
    Failed {
        /// HTTP status.
        status: Option<u16>,
        /// Which attempt this was, from one.
        attempt: u32,
        /// Milliseconds until the next.
        retry_in_ms: Option<u64>,
    },
    /// A sub-agent was started or ended.
    Spawned(Box<SpawnResult>),
    /// A sub-agent reported: hash of its call, and its id.
    Notified {
        /// The call, as in [`Part::call`]; zero where the notification names none.
        call: u64,
        /// The agent's or task's id.
        task: Arc<str>,
    },
    /// The list of tools that are loaded only when asked for has grown (`deferred_tools_delta`, `mcp_instructions_delta`, …):
    /// the word of the transcript.
    ToolsAnnounced(Arc<str>),
    /// The turn ended, as the client itself says.
    TurnEnded {
        /// How long it took.
        duration_ms: Option<u64>,
    },
}
