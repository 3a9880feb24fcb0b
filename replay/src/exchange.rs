//! One recorded request and its answer, in a form that no longer depends on the file format.

use std::sync::Arc;

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::service::Times;
pub use forkcast_sim::service::{BilledUnits, Origin, RecordedUsage};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Addresses, Maker};

/// Whoever answers with a Claude model, wherever it was hosted; the body is in the spelling of the Messages API (see
/// [`Dialect`]). Only these exchanges have a cache profile so far.
pub const ANTHROPIC: &str = "anthropic";

/// How request and answer are spelled on the wire. Bodies stand as sent, except those of `BedrockConverse`,
/// `OpenRouter` and `Rebuilt`: they were translated into Messages bodies, so offsets in them are offsets in the translation.
///
/// The dialect also settles what the usage of the answer means: in those marked *additive* what was read and written stands
/// beside the input count, in those marked *subset* it is part of the prompt count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// The Messages API, whoever offers it. Additive.
    #[default]
    Messages,
    /// Bedrock `InvokeModel`: the model's own body, for Claude a Messages body; the model stands in the address. Which
    /// usage it has shows in its keys.
    BedrockInvoke,
    /// Bedrock Converse with `cachePoint` elements, translated for Claude. Additive.
    BedrockConverse,
    /// `OpenRouter` chat completions of a Claude model with `cache_control` parts, translated. Subset.
    OpenRouter,
    /// Chat completions of `OpenAI` and of all who took them over. Subset.
    ChatCompletions,
    /// The Responses API of `OpenAI` and of those who took it over. Subset.
    Responses,
    /// `generateContent` of Gemini and Vertex. Subset.
    GenerateContent,
    /// Cohere's chat, version 1 and 2. Subset.
    Cohere,
    /// Ollama's own API. It has no counts of its cache.
    Ollama,
    /// Embeddings: input alone.
    Embeddings,
    /// Put together into a Messages body out of the parts that a log or a trace holds, mostly without cache
    /// breakpoints; how its usage counts is told by arithmetic.
    Rebuilt,
    /// Left out of a log, redacted or cut: the body is empty, usage is all that is known.
    Unprompted,
}

impl Dialect {
    /// All.
    pub const ALL: [Self; 12] = [
        Self::Messages,
        Self::BedrockInvoke,
        Self::BedrockConverse,
        Self::OpenRouter,
        Self::ChatCompletions,
        Self::Responses,
        Self::GenerateContent,
        Self::Cohere,
        Self::Ollama,
        Self::Embeddings,
        Self::Rebuilt,
        Self::Unprompted,
    ];

    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::BedrockInvoke => "bedrock-invoke",
            Self::BedrockConverse => "bedrock-converse",
            Self::OpenRouter => "openrouter",
            Self::ChatCompletions => "chat-completions",
            Self::Responses => "responses",
            Self::GenerateContent => "generate-content",
            Self::Cohere => "cohere",
            Self::Ollama => "ollama",
            Self::Embeddings => "embeddings",
            Self::Rebuilt => "rebuilt",
            Self::Unprompted => "unprompted",
        }
    }
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Where it was found.
    pub origin: Origin,
    /// Who answered, by the name used in reports: [`ANTHROPIC`], `openai`, `gemini`, `bedrock`, `openrouter`, …
    pub provider: String,
    /// How the request was spelled on the wire.
    pub dialect: Dialect,
    /// The model as the request or the address spelled it, else as the answer does; empty where none says.
    pub model: String,
    /// The request body as sent: JSON bytes. Bodies that a recorder had parsed are rendered again, keys in recorded order.
    pub body: Vec<u8>,
    /// Where the parts of the body stood in the one that was sent, where it was translated.
    pub addresses: Option<Arc<Addresses>>,
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
    /// The chain that started this one, in the same words, where the input names it.
    pub parent: Option<String>,
    /// The request of another chain that this one goes on from, by its position, where the input knows that: bytes alone do not
    /// show that a chain without most of its parent's history is a fork.
    pub continues: Option<usize>,
    /// An explicit cache scope (organisation or workspace) where the input has one.
    pub scope: Option<String>,
    /// At which tier it was served: as an item of a batch where the recording says so, else what the answer says, else what
    /// the request asked for.
    pub tier: ServiceTier,
    /// The region of the host that was asked, where its name tells one: `eu` of `eu.api.openai.com`.
    pub region: Option<String>,
    /// Program and version that sent it, such as `claude-cli/2.1.63`, where the recording shows them.
    pub client: Option<String>,
    /// Tokens of each prefix, block by block, where the input declares them: a simulated run knows its sizes.
    pub sizes: Option<Vec<u64>>,
}

impl Exchange {
    /// An exchange of which only the request is known: no instants, no answer.
    pub fn request_only(origin: Origin, model: String, body: Vec<u8>) -> Self {
        Self {
            origin,
            provider: ANTHROPIC.to_owned(),
            dialect: Dialect::Messages,
            model,
            body,
            addresses: None,
            sent_at: None,
            first_byte_at: None,
            ended_at: None,
            status: None,
            usage: None,
            altered: false,
            chain: None,
            parent: None,
            continues: None,
            scope: None,
            tier: ServiceTier::Standard,
            region: None,
            client: None,
            sizes: None,
        }
    }

    /// Whose rules its request follows: they say whether its cache is modelled. Exchanges of others are read and counted, and
    /// their prefixes are compared.
    pub fn maker(&self) -> Maker {
        Maker::of_provider(&self.provider)
    }

    /// The host itself was a regional one, which costs more. Hosts of Bedrock all name a region; there the spelling of the
    /// model tells whether it is a regional endpoint.
    pub fn at_regional_host(&self) -> bool {
        let is_bedrock = matches!(self.dialect, Dialect::BedrockInvoke | Dialect::BedrockConverse);
        self.region.is_some() && !is_bedrock && self.provider != "bedrock"
    }

    /// When it was sent and answered, as far as that is recorded; `None` where the recording has no instants.
    pub fn times(&self) -> Option<Times> {
        self.sent_at.map(|at| Times::of(at, self.first_byte_at, self.ended_at))
    }

    /// The provider refused the request (HTTP status of 400 and above): nothing was billed, read or written.
    pub fn failed(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}
