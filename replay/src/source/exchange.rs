//! A recorded exchange as a request: whether it can be read, its spelling, and the known facts.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use forkcast_sim::guard::{Breakpoints, Facts, Sent};
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::service::{PriceFacts, Times};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{Platform, resolve};
use forkcast_sim::wire::{Addresses, Maker, Request, Ttl, Usage, Wire};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::scope::Scope;
use crate::exchange::{Dialect, Exchange, Origin, RecordedUsage};
use crate::formats::dialect::Translated;
use crate::formats::dialect::others;
use crate::formats::value::Value;
use crate::input::Unreadable;

/// Why an exchange is not a request to a known cache.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// No cache profile exists for this provider.
    NoProfile(String),
    /// It asks for embeddings.
    Embeddings,
    /// It asks how many tokens a prompt has.
    TokenCount,
    /// It makes a cached object, which later requests name.
    CachedContent,
    /// The prompt is not in the recording, or not in a known place.
    Unprompted,
    /// The provider refused it: nothing was read, written or billed.
    Refused,
    /// It continues a response that the provider keeps, so most of its prompt is not in its body.
    Continues,
    /// The body is not a request.
    Unreadable(String),
}

impl Unread {
    /// Whether a cache may have seen a prompt that is not here. Embeddings have no cache, and refused requests reach none.
    pub const fn hides_a_prompt(&self) -> bool {
        matches!(self, Self::Unprompted | Self::Continues)
    }

    /// The damage to its file, if it is damage.
    pub(crate) fn damage(&self, origin: &Origin) -> Option<Unreadable> {
        let Self::Unreadable(why) = self else { return None };
        let reason = format!("request {}: {why}", origin.index);
        Some(Unreadable { file: origin.file.clone(), line: origin.line, reason, of_answer: false })
    }

    /// In words.
    pub fn reason(&self) -> String {
        let words = match self {
            Self::NoProfile(provider) => return format!("there is no cache profile for {provider} yet"),
            Self::Unreadable(why) => return format!("its body is no request: {why}"),
            Self::Embeddings => "embeddings have no prompt cache",
            Self::TokenCount => "it only counts tokens: others have `max_tokens`",
            Self::CachedContent => "it makes a cached object and asks nothing",
            Self::Unprompted => "the recording left the prompt out",
            Self::Continues => "it goes on from a response that the provider keeps, so its prompt is not in its body",
            Self::Refused => "the provider refused it, so nothing was read or written",
        };
        words.to_owned()
    }
}

/// A body in the spelling of the Messages API.
#[derive(Clone, Debug)]
pub struct Spelling<'a> {
    /// The body.
    pub body: Cow<'a, [u8]>,
    /// The original places of its parts, if it was translated.
    pub addresses: Option<Arc<Addresses>>,
    /// Breakpoints that are not in the body.
    pub breakpoints: Breakpoints,
    /// The maker whose rules its prompt follows.
    pub maker: Maker,
}

/// The request of an exchange.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub request: Request,
    /// The assumption about its breakpoints.
    pub remark: Option<String>,
}

/// The body of an exchange in the spelling of the Messages API, or why there is none.
pub fn spelling(exchange: &Exchange) -> Result<Spelling<'_>, Unread> {
    match exchange.dialect {
        Dialect::Embeddings => return Err(Unread::Embeddings),
        Dialect::TokenCount => return Err(Unread::TokenCount),
        Dialect::CachedContent => return Err(Unread::CachedContent),
        Dialect::Unprompted => return Err(Unread::Unprompted),
        _ => {}
    }
    let maker = exchange.maker();
    let breakpoints = match &exchange.usage {
        _ if maker != Maker::Anthropic => Breakpoints::Automatic,
        Some(recorded) => breakpoints(exchange, &recorded.usage),
        None => Breakpoints::AsSent,
    };
    // The next reader refuses an invalid body, with the place of the fault.
    let as_sent =
        Spelling { body: Cow::Borrowed(&exchange.body), addresses: exchange.addresses.clone(), breakpoints, maker };
    let body = if maker == Maker::Anthropic { None } else { Value::from_json(&exchange.body).ok() };
    let Some(body) = body else { return Ok(as_sent) };
    let kept = ["previous_response_id", "conversation", "previous_interaction_id"];
    if kept.iter().any(|key| body.get(key).is_some_and(|id| *id != Value::Null)) {
        return Err(Unread::Continues);
    }
    let translated = others::translate(maker, exchange.dialect, &body, &exchange.model);
    let Translated { body, addresses } = translated.ok_or(Unread::Unprompted)?;
    Ok(Spelling { body: Cow::Owned(body.to_json()), addresses: Some(Arc::new(addresses)), ..as_sent })
}

/// The request of an exchange with a modelled cache, in the cache of `scope`.
pub(crate) fn read(wire: &mut Wire, exchange: &Exchange, scope: &str) -> Result<RecordedRequest, Unread> {
    if exchange.maker() != Maker::Anthropic {
        return Err(Unread::NoProfile(exchange.provider.clone()));
    }
    if exchange.failed() {
        return Err(Unread::Refused);
    }
    let Spelling { body, addresses, breakpoints, maker } = spelling(exchange)?;
    let read = wire.read_by(maker, &body, scope, &exchange.model);
    let mut request = read.map_err(|error| Unread::Unreadable(error.to_string()))?;
    request.addresses = addresses;
    let as_sent = request.markers.clone();
    breakpoints.apply(&mut request);
    let remark = (request.markers != as_sent).then(|| remark(breakpoints)).flatten();
    Ok(RecordedRequest { request, remark })
}

/// The remark about breakpoints that are not in the body.
fn remark(breakpoints: Breakpoints) -> Option<String> {
    match breakpoints {
        Breakpoints::Lifetime(ttl) => {
            Some(format!("lifetime {ttl} taken from the bill: the body was altered on its way"))
        }
        Breakpoints::Implied(_) => Some(
            "the log holds no cache breakpoints: assumed at the end of the system prompt and on the last block"
                .to_owned(),
        ),
        Breakpoints::AsSent | Breakpoints::Automatic => None,
    }
}

/// The facts of an exchange besides its prompt. `scope` is its cache, see [`Scope::of`]; `times` are omitted if they are not
/// recorded, or no profile has the lifetimes.
pub(crate) fn facts<'a>(exchange: &'a Exchange, of: &Scope, scope: &'a str, times: Option<&Times>) -> Facts<'a> {
    Facts {
        chain: exchange.chain.as_deref(),
        parent: exchange.parent.as_deref(),
        key: Some(key(&exchange.origin, exchange.origin.index)),
        continues: exchange.continues.map(|index| key(&exchange.origin, index)),
        scope,
        siblings: of.siblings,
        at: times.map(|times| times.at),
        recorded_at: exchange.sent_at,
        first_byte_at: times.map(|times| if exchange.given_up { times.ended_at } else { times.first_byte_at }),
        given_up: exchange.given_up,
        unanswered: exchange.unanswered,
        // Sums over the passes of a server-side tool are not about one prompt.
        usage: exchange.usage.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage),
        price: answer(exchange).map(|answer| price(exchange, answer, exchange.sent_at)),
    }
}

/// The answer that decides the prices. That an item of a batch is one is known without its answer.
fn answer(exchange: &Exchange) -> Option<&RecordedUsage> {
    static UNANSWERED: LazyLock<RecordedUsage> = LazyLock::new(RecordedUsage::default);
    exchange.usage.as_ref().or_else(|| (exchange.tier == ServiceTier::Batch).then(|| &*UNANSWERED))
}

/// What decides the prices of an exchange with this answer, besides its body. A run's own clock has no day.
pub fn price<'a>(exchange: &'a Exchange, answer: &'a RecordedUsage, at: Option<Instant>) -> PriceFacts<'a> {
    let answered = PriceFacts::answered(&exchange.model, answer, at);
    PriceFacts { tier: exchange.tier, regional_host: exchange.at_regional_host(), ..answered }
}

/// The key of a request: its position in its file.
fn key(origin: &Origin, index: usize) -> u64 {
    xxh3_64_with_seed(origin.file.as_bytes(), index as u64)
}

/// The request for the guard, with the body of [`spelling`].
pub(crate) fn sent<'a>(exchange: &'a Exchange, spelling: &'a Spelling<'_>, facts: &Facts<'a>) -> Sent<'a> {
    Sent {
        body: &spelling.body,
        maker: spelling.maker,
        addresses: spelling.addresses.as_ref(),
        model_outside: &exchange.model,
        sizes: exchange.sizes.as_deref(),
        breakpoints: spelling.breakpoints,
        facts: *facts,
    }
}

fn breakpoints(exchange: &Exchange, usage: &Usage) -> Breakpoints {
    let cached = usage.cache_read_input_tokens > 0 || usage.cache_creation_input_tokens() > 0;
    match usage.billed_ttl() {
        Some(ttl) if exchange.altered => Breakpoints::Lifetime(ttl),
        ttl if exchange.dialect == Dialect::Rebuilt && cached => Breakpoints::Implied(ttl.unwrap_or(Ttl::FiveMinutes)),
        _ => Breakpoints::AsSent,
    }
}

/// The platform of the model. Platforms share no cache: isolation is per workspace or organisation of one platform
/// (Anthropic prompt-caching page, 2026-08-21).
pub(super) fn platform(exchange: &Exchange) -> &'static str {
    match exchange.dialect {
        Dialect::BedrockInvoke | Dialect::BedrockConverse => "bedrock",
        Dialect::OpenRouter => "openrouter",
        _ => match resolve(&exchange.model).map(|resolved| resolved.platform) {
            Some(Platform::Bedrock) => "bedrock",
            Some(Platform::Vertex) => "vertex",
            Some(Platform::OpenRouter) => "openrouter",
            _ => "",
        },
    }
}
