//! A recorded exchange as the guard takes it.

use std::borrow::Cow;
use std::sync::Arc;

use forkcast_sim::guard::{Breakpoints, Sent};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Addresses, Ttl, Usage};

use crate::exchange::{Dialect, Exchange, Provider};
use crate::formats::dialect::{Translated, openai};
use crate::formats::json;
use crate::formats::value::Value;
use crate::replay::reading::platform;

/// Whose a request is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whose<'a> {
    pub scope: &'a str,
    pub chain: Option<&'a str>,
    pub parent: Option<&'a str>,
}

/// Why an exchange is not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unchecked {
    /// No cache profile reads the requests of this provider.
    NoProfile(String),
    /// The recording left the prompt out.
    Unprompted,
    /// The provider refused it: nothing was read, written or billed.
    Refused,
    /// It goes on from a response that the provider keeps, so most of its prompt is not in its body.
    Continues,
}

/// Whether a cache could see the exchange.
pub(super) fn unchecked(exchange: &Exchange) -> Option<Unchecked> {
    match &exchange.provider {
        Provider::Other(name) if !is_openai(exchange) => Some(Unchecked::NoProfile(name.clone())),
        Provider::Other(_) if exchange.failed() => Some(Unchecked::Refused),
        Provider::Other(_) => continues(&exchange.body).then_some(Unchecked::Continues),
        Provider::Anthropic if exchange.dialect == Dialect::Unprompted => Some(Unchecked::Unprompted),
        Provider::Anthropic if exchange.failed() => Some(Unchecked::Refused),
        Provider::Anthropic => None,
    }
}

/// Whether it holds a prompt for `OpenAI`, which the guard takes in a translation.
pub fn is_openai(exchange: &Exchange) -> bool {
    exchange.provider.name() == "openai"
        && matches!(exchange.dialect, Dialect::ChatCompletions | Dialect::Responses)
        && ["messages", "input"].iter().any(|key| json::member(&exchange.body, key).is_some())
}

fn continues(body: &[u8]) -> bool {
    ["previous_response_id", "conversation"].iter().any(|key| json::member(body, key).is_some_and(|id| id != b"null"))
}

/// A body in the spelling of the Messages API, as the guard takes it.
#[derive(Clone, Debug)]
pub struct Spelled<'a> {
    /// The body.
    pub body: Cow<'a, [u8]>,
    /// Where its parts stood in the body that was sent, where it was translated.
    pub addresses: Option<Arc<Addresses>>,
}

/// The body of an exchange as the guard takes it.
pub fn spelled(exchange: &Exchange) -> Spelled<'_> {
    let translated = is_openai(exchange).then(|| Value::from_json(&exchange.body).ok()).flatten();
    match translated.as_ref().map(openai::translate) {
        Some(Translated { body, addresses }) => {
            Spelled { body: Cow::Owned(body.to_json()), addresses: Some(Arc::new(addresses)) }
        }
        // What cannot be read is refused, with its place, by whoever reads it next.
        None => Spelled { body: Cow::Borrowed(&exchange.body), addresses: exchange.addresses.clone() },
    }
}

/// Its scope: that of its own organisation where the input names one, and of its platform, since platforms share nothing.
pub(super) fn scope(exchange: &Exchange, scope: &str) -> String {
    let own = exchange.scope.as_deref().unwrap_or(scope);
    match platform(exchange) {
        "" => own.to_owned(),
        platform => format!("{own} ({platform})"),
    }
}

/// The request, its body as [`spelled`] gives it. Instants are (sent, first byte); those of `OpenAI` are left out, since no
/// profile holds its lifetimes.
pub(super) fn sent<'a>(
    exchange: &'a Exchange,
    spelled: &'a Spelled<'_>,
    whose: Whose<'a>,
    instants: Option<(Instant, Instant)>,
) -> Sent<'a> {
    let usage = exchange.usage.as_ref();
    let instants = instants.filter(|_| !is_openai(exchange));
    Sent {
        body: &spelled.body,
        addresses: spelled.addresses.as_ref(),
        chain: exchange.chain.as_deref().or(whose.chain),
        parent: exchange.parent.as_deref().or(whose.parent),
        scope: whose.scope,
        model_outside: &exchange.model,
        at: instants.map(|(at, _)| at),
        first_byte_at: instants.map(|(_, first_byte_at)| first_byte_at),
        // Sums over the passes of a server-side tool say nothing of one prompt.
        usage: usage.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage),
        breakpoints: match usage {
            _ if is_openai(exchange) => Breakpoints::Automatic,
            Some(recorded) => breakpoints(exchange, &recorded.usage),
            None => Breakpoints::AsSent,
        },
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
