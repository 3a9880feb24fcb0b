//! Usage in answers of the provider, and their content for those who play them again ([`events`]).
//!
//! The dialect of an exchange, known from its address (or, without an address, from marks in the answer), decides how its
//! usage is read; a key is never read with the meaning of another dialect. Every reader converts its counts to the additive
//! convention of [`forkcast_sim::wire::Usage`], with `subset` if the provider uses the other one. Counts that contradict
//! each other are refused with a reason, and the exchange is kept without usage.

mod bedrock;
mod chat;
mod chunks;
mod cohere;
pub mod events;
mod eventstream;
mod gemini;
mod iterations;
mod messages;
mod ollama;
mod openai_responses;
mod payload;
mod recognise;
mod sse;
mod stream;
mod subset;
mod tier;
mod tokens;

use forkcast_sim::outside::found;
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::wire::Maker;

use crate::exchange::{Dialect, Exchange, RecordedUsage};
use crate::formats::json::{member, member_text, present};
use payload::{Events, Payload};

pub(crate) use bedrock::counted_by_headers;
pub(crate) use eventstream::begins as is_framed;
pub(crate) use messages::{REFUSED, edits_of, thinking_refused};

/// The data of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its usage; `None` if it has none or an implausible one (then `faults` has the reason).
    pub usage: Option<RecordedUsage>,
    /// The model as the answer spells it.
    pub model: Option<String>,
    /// The provider that a gateway asked, as the gateway calls it.
    pub upstream: Option<String>,
    /// Why usage is missing although there is an answer.
    pub faults: Vec<String>,
    /// Repairs, for instance of a stream that broke off, or of a total that is not the sum of its parts.
    pub repairs: Vec<String>,
    /// Observations that change nothing, for instance stream events of an unknown kind.
    pub notes: Vec<String>,
}

/// The content of a usage object.
struct UsageReport {
    recorded: RecordedUsage,
    /// Counts that do not add up but can be used.
    odd: Vec<String>,
    /// The word for the service tier.
    tier: Option<String>,
}

impl From<RecordedUsage> for UsageReport {
    fn from(recorded: RecordedUsage) -> Self {
        Self { recorded, odd: Vec::new(), tier: None }
    }
}

impl Answer {
    /// An answer without usage, with the reason.
    fn without_usage(why: impl Into<String>) -> Self {
        Self { faults: vec![why.into()], ..Self::default() }
    }

    /// A JSON answer without the key `name`.
    fn lacking_usage(body: &[u8], name: &str) -> Self {
        let error = present(body, "error");
        let status = member_text(body, "status").filter(|status| matches!(&**status, "queued" | "in_progress"));
        let answer = match (error, status) {
            (Some(error), _) => {
                let kind = ["type", "code", "status"].iter().find_map(|name| member_text(error, name));
                Self::without_usage(format!("the answer is an error ({})", found(kind.as_deref().unwrap_or("error"))))
            }
            (None, Some(status)) => {
                Self::without_usage(format!("answer has no `{name}` yet, its status is `{status}`"))
            }
            (None, None) => Self::without_usage(format!("answer has no `{name}`")),
        };
        answer.named_by(body, "model")
    }

    /// Reads a usage object.
    fn of(raw: &[u8], read: impl FnOnce(&tokens::Fields) -> Result<UsageReport, String>) -> Self {
        match tokens::fields(raw).and_then(|fields| read(&fields)) {
            Ok(found) => {
                let mut answer = Self::default();
                answer.take(found);
                answer
            }
            Err(why) => Self::without_usage(why),
        }
    }

    fn take(&mut self, found: UsageReport) {
        self.usage = Some(found.recorded);
        self.repairs.extend(found.odd);
        self.served(found.tier.as_deref());
    }

    /// Sets the tier with this word. Unknown ones are noted, because their prices are unknown.
    fn served(&mut self, word: Option<&str>) {
        let Some(word) = word else { return };
        match (tier::served(word), &mut self.usage) {
            (Some(tier), Some(usage)) => usage.tier = Some(tier),
            (None, _) if tier::is_foreign(word) => {
                self.notes.push(format!("service tier {} is not known here, standard is assumed", found(word)));
            }
            _ => {}
        }
    }

    fn tiered_by(mut self, holder: &[u8], name: &str) -> Self {
        self.served(member_text(holder, name).as_deref());
        self
    }

    fn named_by(mut self, holder: &[u8], name: &str) -> Self {
        self.model = member_text(holder, name).map(|model| model.into_owned());
        self
    }
}

/// Reads the body of an answer with HTTP status below 400: JSON, or a stream in any framing.
pub fn read(dialect: Dialect, body: &[u8]) -> Answer {
    read_payload(dialect, &payload::of(body))
}

fn read_payload(dialect: Dialect, payload: &Payload<'_>) -> Answer {
    match payload {
        Payload::Json(json) => read_json(dialect, json),
        Payload::Events(events) => read_stream(dialect, events),
        Payload::Neither(found) => Answer::without_usage(found.as_str()),
    }
}

fn read_json(dialect: Dialect, body: &[u8]) -> Answer {
    match dialect {
        Dialect::Messages => messages::read_json(body),
        Dialect::BedrockInvoke => bedrock::read_invoke(body),
        Dialect::BedrockConverse => bedrock::read_converse(body),
        Dialect::OpenRouter | Dialect::ChatCompletions | Dialect::Rebuilt | Dialect::Unprompted => {
            chat::read_json(body)
        }
        Dialect::Responses => openai_responses::read_json(body),
        Dialect::GenerateContent => gemini::read_json(body),
        Dialect::Cohere => cohere::read_json(body),
        Dialect::Ollama => ollama::read_json(body),
        Dialect::CachedContent => gemini::read_cached(body),
        Dialect::Embeddings => chat::read_embeddings(body),
        Dialect::TokenCount => Answer::without_usage("found an answer, expected a count of tokens"),
    }
}

fn read_stream(dialect: Dialect, events: &Events<'_>) -> Answer {
    match dialect {
        Dialect::Messages => stream::read(events),
        Dialect::BedrockInvoke => bedrock::read_invoke_stream(events),
        Dialect::BedrockConverse => chunks::read(events, &bedrock::CONVERSE_STREAM),
        Dialect::OpenRouter | Dialect::ChatCompletions | Dialect::Rebuilt | Dialect::Unprompted => {
            chunks::read(events, &chat::STREAM)
        }
        Dialect::Responses => chunks::read(events, &openai_responses::STREAM),
        Dialect::GenerateContent => gemini::read_stream(events),
        Dialect::Cohere => chunks::read(events, &cohere::STREAM),
        Dialect::Ollama => chunks::read(events, &ollama::STREAM),
        Dialect::CachedContent => Answer::without_usage("found a stream, expected a cached object"),
        Dialect::TokenCount => Answer::without_usage("found an answer, expected a count of tokens"),
        Dialect::Embeddings => Answer::without_usage("found a stream, expected one object with embeddings"),
    }
}

/// Reads an answer in the dialect of its exchange and sets usage and tier, and the model if the request names none. Returns
/// everything else.
pub(crate) fn attach(exchange: &mut Exchange, body: &[u8]) -> Answer {
    let payload = payload::of(body);
    let mut answer = read_payload(exchange.dialect, &payload);
    if answer.usage.is_none() && matches!(payload, Payload::Events(_)) && was_not_asked_for(exchange) {
        let why = "; the request did not ask for it (`stream_options.include_usage`)";
        answer.faults.last_mut().into_iter().for_each(|fault| fault.push_str(why));
    }
    exchange.usage = answer.usage;
    exchange.upstream.clone_from(&answer.upstream);
    // The recording shows a batch; the answer inside may say `standard`.
    if exchange.tier != ServiceTier::Batch {
        let served = answer.usage.and_then(|usage| usage.tier);
        let asked = || member_text(&exchange.body, "service_tier").map(|word| tier::asked_for(&word));
        exchange.tier = served.or_else(asked).unwrap_or(exchange.tier);
    }
    if let Some(model) = answer.model.as_ref().filter(|_| exchange.model.is_empty()) {
        exchange.model.clone_from(model);
    }
    answer
}

/// [`attach`] for formats without addresses: marks in the answer show its dialect; without marks it is that of the request.
pub(crate) fn attach_recognised(exchange: &mut Exchange, body: &[u8]) -> Answer {
    let recognised = match payload::of(body) {
        Payload::Json(json) => recognise::dialect(json),
        Payload::Events(events) => events.list.iter().find_map(|event| recognise::dialect(&event.data)),
        Payload::Neither(_) => None,
    };
    let own = exchange.dialect;
    exchange.dialect = recognised.unwrap_or(own);
    let answer = attach(exchange, body);
    if exchange.maker() == Maker::Anthropic {
        // The body keeps its own spelling, even if a gateway changed that of the answer.
        exchange.dialect = own;
    }
    answer
}

fn was_not_asked_for(exchange: &Exchange) -> bool {
    let asked = member(&exchange.body, "stream_options").and_then(|options| member(options, "include_usage"));
    exchange.dialect == Dialect::ChatCompletions && asked != Some(b"true")
}

/// Reads a usage object of the Messages API outside of its answer, which `model` gave.
pub(crate) fn usage_of_messages(raw: &[u8], model: Option<&str>) -> Result<RecordedUsage, String> {
    let answer = Answer::of(raw, |fields| messages::usage(fields, model));
    answer.usage.ok_or_else(|| answer.faults.concat())
}

/// A usage object in the spelling of a recorder.
pub(crate) struct Counts(tokens::Fields);

impl Counts {
    /// Reads raw JSON.
    pub fn new(raw: &[u8]) -> Result<Self, String> {
        tokens::fields(raw).map(Self)
    }

    /// The count under `name`; `None` if it is absent or null.
    pub fn get(&self, name: &str) -> Result<Option<u64>, String> {
        tokens::count(&self.0, name)
    }

    /// The count under `name`; zero if it is absent or null.
    pub fn get_or_zero(&self, name: &str) -> Result<u64, String> {
        tokens::count_or_zero(&self.0, name)
    }
}
