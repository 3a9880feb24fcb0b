//! A recorded exchange as the guard takes it.

use std::borrow::Cow;
use std::sync::Arc;

use forkcast_sim::guard::{Breakpoints, Sent};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Addresses, Ttl, Usage};

use crate::exchange::{Dialect, Exchange, Provider};
use crate::formats::dialect::Translated;
use crate::formats::dialect::others::{self, Maker};
use crate::formats::value::Value;
use crate::replay::reading::platform;

/// Whose a request is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whose<'a> {
    pub scope: &'a str,
    /// It lies in a folder beside others of the same run.
    pub siblings: bool,
}

/// Why an exchange is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unchecked {
    /// Texts were to be embedded.
    Embeddings,
    /// The recording left the prompt out, or it stands in none of the places that are known.
    Unprompted,
    /// The provider refused it: nothing was read, written or billed.
    Refused,
    /// It goes on from a response that the provider keeps, so most of its prompt is not in its body.
    Continues,
}

impl Unchecked {
    /// Whether a cache may have seen a prompt that is not here. Embeddings have no cache, and what was refused reached none.
    pub const fn hides_a_prompt(self) -> bool {
        matches!(self, Self::Unprompted | Self::Continues)
    }

    /// In words.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings have no prompt cache",
            Self::Unprompted => "the recording left the prompt out",
            Self::Continues => "it goes on from a response that the provider keeps, so its prompt is not in its body",
            Self::Refused => "the provider refused it, so nothing was read or written",
        }
    }
}

/// A body in the spelling of the Messages API, as the guard takes it.
#[derive(Clone, Debug)]
pub struct Spelled<'a> {
    /// The body.
    pub body: Cow<'a, [u8]>,
    /// Where its parts stood in the body that was sent, where it was translated.
    pub addresses: Option<Arc<Addresses>>,
    /// What is known of its breakpoints beside those in the body.
    pub breakpoints: Breakpoints,
    /// Whose rules apply to its prompt; `None` for Anthropic's.
    pub(super) maker: Option<Maker>,
}

/// The body of an exchange as the guard takes it.
///
/// # Errors
/// Why no cache could see it.
pub fn spelled(exchange: &Exchange) -> Result<Spelled<'_>, Unchecked> {
    match exchange.dialect {
        Dialect::Embeddings => return Err(Unchecked::Embeddings),
        Dialect::Unprompted => return Err(Unchecked::Unprompted),
        _ => {}
    }
    let maker = maker(exchange);
    let breakpoints = match &exchange.usage {
        _ if maker.is_some() => Breakpoints::Automatic,
        Some(recorded) => breakpoints(exchange, &recorded.usage),
        None => Breakpoints::AsSent,
    };
    // What cannot be read is refused, with its place, by whoever reads it next.
    let as_sent =
        Spelled { body: Cow::Borrowed(&exchange.body), addresses: exchange.addresses.clone(), breakpoints, maker };
    let (Some(maker), Ok(body)) = (maker, Value::from_json(&exchange.body)) else { return Ok(as_sent) };
    if ["previous_response_id", "conversation"].iter().any(|key| body.get(key).is_some_and(|id| *id != Value::Null)) {
        return Err(Unchecked::Continues);
    }
    let translated = others::translate(maker, exchange.dialect, &body, &exchange.model);
    let Translated { body, addresses } = translated.ok_or(Unchecked::Unprompted)?;
    Ok(Spelled { body: Cow::Owned(body.to_json()), addresses: Some(Arc::new(addresses)), ..as_sent })
}

fn maker(exchange: &Exchange) -> Option<Maker> {
    match &exchange.provider {
        Provider::Anthropic => None,
        Provider::Other(name) if matches!(name.as_str(), "openai" | "azure") => Some(Maker::OpenAi),
        Provider::Other(_) => Some(Maker::Other),
    }
}

/// Its scope: that of its own organisation where the input names one, and of its platform, since platforms share nothing.
pub(crate) fn scope(exchange: &Exchange, scope: &str) -> String {
    let own = exchange.scope.as_deref().unwrap_or(scope);
    match platform(exchange) {
        "" => own.to_owned(),
        platform => format!("{own} ({platform})"),
    }
}

/// The request, its body as [`spelled`] gives it. Instants are (sent, first byte); those of providers other than Anthropic
/// are left out, since no profile holds their lifetimes.
pub(super) fn sent<'a>(
    exchange: &'a Exchange,
    spelled: &'a Spelled<'_>,
    whose: Whose<'a>,
    instants: Option<(Instant, Instant)>,
) -> Sent<'a> {
    let usage = exchange.usage.as_ref();
    let instants = instants.filter(|_| spelled.maker.is_none());
    Sent {
        body: &spelled.body,
        addresses: spelled.addresses.as_ref(),
        chain: exchange.chain.as_deref(),
        parent: exchange.parent.as_deref(),
        continues: exchange.continues,
        scope: whose.scope,
        siblings: whose.siblings,
        model_outside: &exchange.model,
        at: instants.map(|(at, _)| at),
        first_byte_at: instants.map(|(_, first_byte_at)| first_byte_at),
        // Sums over the passes of a server-side tool say nothing of one prompt.
        usage: usage.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage),
        sizes: exchange.sizes.as_deref(),
        breakpoints: spelled.breakpoints,
    }
}

fn breakpoints(exchange: &Exchange, usage: &Usage) -> Breakpoints {
    let cached = usage.cache_read_input_tokens > 0 || usage.cache_creation_input_tokens() > 0;
    match billed_ttl(usage) {
        Some(ttl) if exchange.altered => Breakpoints::Lifetime(ttl),
        ttl if exchange.dialect == Dialect::Rebuilt && cached => Breakpoints::Implied(ttl.unwrap_or(Ttl::FiveMinutes)),
        _ => Breakpoints::AsSent,
    }
}

/// The lifetime at which a request was billed, where the bill tells one.
pub(super) fn billed_ttl(usage: &Usage) -> Option<Ttl> {
    match (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens) {
        (1.., 0) => Some(Ttl::FiveMinutes),
        (0, 1..) => Some(Ttl::OneHour),
        _ => None,
    }
}
