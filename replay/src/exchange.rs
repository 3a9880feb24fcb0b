//! One recorded request and its answer, in a form that no longer depends on the file format.

use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;

/// Where an exchange was found; every message about it names this.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file as the user named it or as the folder walk found it.
    pub file: String,
    /// Position inside the file, counted from zero in reading order.
    pub index: usize,
    /// Line in the file where it begins, counted from one; zero where the format has no lines.
    pub line: usize,
}

/// Who answered. Only `Anthropic` exchanges have a cache profile so far; the others are read and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A Claude model, wherever it was hosted; the body is in the spelling of the Messages API (see [`Dialect`]).
    Anthropic,
    /// Anything else, by the name used in reports: `openai`, `gemini`, `bedrock`, `openrouter`, …
    Other(String),
}

/// How the client spelled the request on the wire. Only bodies of `Messages` and `BedrockInvoke` are the bytes sent;
/// the other two were translated into a Messages body, so offsets in them are offsets in the translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The Messages API (also for providers that are only counted: their bodies stand as sent).
    #[default]
    Messages,
    /// Bedrock `InvokeModel` with a Messages body; the model stands in the address.
    BedrockInvoke,
    /// Bedrock Converse with `cachePoint` elements, translated.
    BedrockConverse,
    /// `OpenRouter` chat completions with `cache_control` parts, translated.
    OpenRouter,
}

impl Dialect {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::BedrockInvoke => "bedrock-invoke",
            Self::BedrockConverse => "bedrock-converse",
            Self::OpenRouter => "openrouter",
        }
    }
}

/// What the recording says about the answer's usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedUsage {
    /// Token counts in the additive convention.
    pub usage: Usage,
    /// The provider reported the written tokens by lifetime; otherwise they stand under five minutes.
    pub split_by_ttl: bool,
    /// The answer held server-side tool passes (`server_tool_use` blocks or several `iterations`), so the counts are sums.
    pub server_passes: bool,
    /// The output count is only the stream's start value, not the final one.
    pub output_is_start_value: bool,
    /// How many context edits the provider applied to the prompt before it was cached (`context_management.applied_edits`).
    pub applied_edits: u32,
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Where it was found.
    pub origin: Origin,
    /// Who answered.
    pub provider: Provider,
    /// How the request was spelled on the wire.
    pub dialect: Dialect,
    /// The model as the request (or the address) spelled it; empty where neither says.
    pub model: String,
    /// The request body as sent: JSON bytes. Bodies that a recorder had parsed are rendered again, keys in recorded order.
    pub body: Vec<u8>,
    /// When the request was sent; `None` where the recording has no instants.
    pub sent_at: Option<Instant>,
    /// When the first byte of the answer came; `None` where unknown.
    pub first_byte_at: Option<Instant>,
    /// When the answer ended; `None` where unknown.
    pub ended_at: Option<Instant>,
    /// HTTP status of the answer; `None` where unknown or dropped.
    pub status: Option<u16>,
    /// Usage of the answer; `None` where the recording has none (errors, dropped answers).
    pub usage: Option<RecordedUsage>,
    /// The body is known to have been altered on its way (a proxy), so lifetimes are taken from the bill.
    pub altered: bool,
    /// Ids of session and agent where the input has them; requests with equal ids form one chain.
    pub chain: Option<String>,
    /// An explicit cache scope (organisation or workspace) where the input has one.
    pub scope: Option<String>,
    /// Sent through the batch interface (half price).
    pub batch: bool,
    /// Program and version that sent it, such as `claude-cli/2.1.63`, where the recording shows them.
    pub client: Option<String>,
}

impl Exchange {
    /// An exchange of which only the request is known: no instants, no answer.
    pub const fn request_only(origin: Origin, model: String, body: Vec<u8>) -> Self {
        Self {
            origin,
            provider: Provider::Anthropic,
            dialect: Dialect::Messages,
            model,
            body,
            sent_at: None,
            first_byte_at: None,
            ended_at: None,
            status: None,
            usage: None,
            altered: false,
            chain: None,
            scope: None,
            batch: false,
            client: None,
        }
    }

    /// The provider refused the request (HTTP status of 400 and above): nothing was billed, read or written.
    pub fn failed(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}
