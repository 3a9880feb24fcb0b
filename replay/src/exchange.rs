//! One recorded request and its answer, in a form that no longer depends on the file format.

use std::sync::Arc;

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::service::Times;
pub use forkcast_sim::service::{BilledUnits, Origin, OtherPasses, PassKind, Passes, RecordedUsage};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{Addresses, Maker};
use forkcast_sim::words;

/// The provider of all exchanges with a Claude model, wherever it was hosted; the body is in the spelling of the Messages
/// API (see [`Dialect`]). Only these exchanges have a cache profile so far.
pub const ANTHROPIC: &str = "anthropic";

words! {
    /// The spelling of request and answer on the wire. Bodies are kept as sent, except those of `BedrockConverse`,
    /// `OpenRouter` and `Rebuilt`: they are translated to Messages bodies, and offsets in them are those of the translation.
    ///
    /// The dialect also decides what the usage of the answer means: in those marked *additive* the input count does not
    /// include read and written tokens, in those marked *subset* the prompt count does.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dialect {
        /// The Messages API, of any provider. Additive.
        #[default]
        Messages = "messages",
        /// Bedrock `InvokeModel`: the model's own body, for Claude a Messages body; the model is in the address. The keys
        /// of the usage show its convention.
        BedrockInvoke = "bedrock-invoke",
        /// Bedrock Converse with `cachePoint` elements, translated for Claude. Additive.
        BedrockConverse = "bedrock-converse",
        /// `OpenRouter` chat completions of a Claude model with `cache_control` parts, translated. Subset.
        OpenRouter = "openrouter",
        /// Chat completions of `OpenAI` and of all providers with the same API. Subset.
        ChatCompletions = "chat-completions",
        /// The Responses API of `OpenAI` and of providers with the same API. Subset.
        Responses = "responses",
        /// `generateContent` of Gemini and Vertex. Subset.
        GenerateContent = "generate-content",
        /// The making of a cached object of Gemini (`cachedContents`), which has only input.
        CachedContent = "cached-content",
        /// Cohere's chat, version 1 and 2. Subset.
        Cohere = "cohere",
        /// Ollama's own API. It has no counts of its cache.
        Ollama = "ollama",
        /// Embeddings, which have only input.
        Embeddings = "embeddings",
        /// The question how many tokens a prompt has, which is free and reads no cache.
        TokenCount = "token-count",
        /// A Messages body assembled from the parts in a log or a trace, mostly without cache breakpoints; arithmetic shows
        /// the convention of its usage.
        Rebuilt = "rebuilt",
        /// Omitted from a log, redacted or truncated: the body is empty, only usage is known.
        Unprompted = "unprompted",
    }
}

words! {
    /// How an answer ended that is not whole.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BreakOff {
        /// The connection was lost before the first byte.
        Lost = "lost",
        /// The connection was reset.
        Reset = "reset",
        /// No more data came.
        Silent = "silent",
        /// The connection was closed as if the answer were whole.
        Closed = "closed",
        /// The client gave up.
        GivenUp = "given-up",
    }
}

/// An answer as it was received, for those who play it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// Its decompressed body: JSON, or a stream in any framing. Empty if nothing arrived.
    pub body: Vec<u8>,
    /// When each event of a stream arrived, if the input has this.
    pub events_at: Vec<Instant>,
    /// How it ended, if it is not whole and the input says so.
    pub break_off: Option<BreakOff>,
    /// How long the provider asked the client to wait, if it refused.
    pub retry_after: Option<Duration>,
}

/// One request and its answer.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// Its place in the input.
    pub origin: Origin,
    /// The provider, by the name used in reports: [`ANTHROPIC`], `openai`, `gemini`, `bedrock`, `openrouter`, …
    pub provider: String,
    /// The provider that a gateway asked, as the gateway calls it in the answer.
    pub upstream: Option<String>,
    /// The spelling of the request on the wire.
    pub dialect: Dialect,
    /// The model as spelled in the request or the address, else in the answer; empty if there is none.
    pub model: String,
    /// The request body as sent: JSON bytes. Bodies that a recorder had parsed are rendered again, keys in recorded order.
    pub body: Vec<u8>,
    /// The original places of the parts of the body, if it was translated.
    pub addresses: Option<Arc<Addresses>>,
    /// When the request was sent; `None` if the recording has no instants.
    pub sent_at: Option<Instant>,
    /// When the first byte of the answer arrived; `None` if unknown.
    pub first_byte_at: Option<Instant>,
    /// When the answer ended; `None` if unknown.
    pub ended_at: Option<Instant>,
    /// HTTP status of the answer; `None` if unknown or dropped.
    pub status: Option<u16>,
    /// Usage of the answer; `None` if the recording has none (errors, dropped answers).
    pub usage: Option<RecordedUsage>,
    /// The answer itself, if it was asked for (`ReadOptions::keeps_answers`) and the input has it.
    pub answer: Option<Box<RecordedAnswer>>,
    /// The input says that it was given up before the first byte of its answer: nothing was written or billed.
    pub given_up: bool,
    /// Nothing of an answer is recorded, in a file that holds answers: what it would have written cannot be read.
    pub unanswered: bool,
    /// Whether a body alone has the `max_tokens` that the Messages API requires of requests for an answer; `None` for other
    /// spellings.
    pub asks_for_answer: Option<bool>,
    /// The body is known to have been altered on its way (by a proxy), so lifetimes are taken from the bill.
    pub altered: bool,
    /// Ids of session and agent, if the input has them; requests with equal ids form one chain.
    pub chain: Option<String>,
    /// The chain that started this one, in the same form, if the input names it.
    pub parent: Option<String>,
    /// The kind of its agent, if the input has it: `main`, `named`, `fork`, `internal`, or the requested type.
    pub agent_kind: Option<String>,
    /// The request of another chain that this one continues, by its position in the file, if the input has it: bytes alone
    /// do not show that a chain without most of its parent's history is a fork.
    pub continues: Option<usize>,
    /// The message of an answer with HTTP 400 that is about thinking in the request.
    pub thinking_refused: Option<String>,
    /// An explicit cache scope (organisation or workspace), if the input has one.
    pub scope: Option<String>,
    /// The service tier: batch if the recording says so, else the tier in the answer, else that in the request.
    pub tier: ServiceTier,
    /// The region in the name of the host: `eu` of `eu.api.openai.com`.
    pub region: Option<String>,
    /// Program and version that sent it, such as `claude-cli/2.1.63`, if the recording shows them.
    pub client: Option<String>,
    /// Tokens of each prefix, block by block, if the input declares them: a simulated run knows its sizes.
    pub sizes: Option<Vec<u64>>,
}

impl Exchange {
    /// An exchange without instants and answer.
    pub fn request_only(origin: Origin, model: String, body: Vec<u8>) -> Self {
        Self { origin, provider: ANTHROPIC.to_owned(), model, body, ..Self::default() }
    }

    /// Keeps the body of its answer.
    pub(crate) fn keep(&mut self, body: &[u8]) {
        self.answer.get_or_insert_default().body = body.to_vec();
    }

    /// The maker whose cache rules its request follows; only the cache of some is modelled. Exchanges of others are read and
    /// counted, and their prefixes are compared.
    pub fn maker(&self) -> Maker {
        Maker::of_provider(&self.provider)
    }

    /// The host itself was a regional one, which costs more. All hosts of Bedrock name a region; there the spelling of the
    /// model shows a regional endpoint.
    pub fn at_regional_host(&self) -> bool {
        let is_bedrock = matches!(self.dialect, Dialect::BedrockInvoke | Dialect::BedrockConverse);
        self.region.is_some() && !is_bedrock && self.provider != "bedrock"
    }

    /// When it was sent and answered, as far as recorded; `None` if the recording has no instants.
    pub fn times(&self) -> Option<Times> {
        self.sent_at.map(|at| Times::of(at, self.first_byte_at, self.ended_at))
    }

    /// Marks those of a file of which nothing came, though others were answered.
    pub fn mark_unanswered(exchanges: &mut [Self]) {
        if exchanges.iter().all(|exchange| exchange.usage.is_none()) {
            return;
        }
        for exchange in exchanges {
            let Self { usage, status, first_byte_at, ended_at, .. } = exchange;
            exchange.unanswered = usage.is_none() && status.is_none() && first_byte_at.is_none() && ended_at.is_none();
        }
    }

    /// The provider refused the request (HTTP status of 400 and above): nothing was billed, read or written.
    pub fn failed(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}
