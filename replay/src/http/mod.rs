//! One HTTP exchange, however it was recorded, becomes an [`Exchange`].
//!
//! Readers of files with HTTP (cassettes, HAR, proxies' logs) find the fields; their meaning is decided only here: the
//! provider and the spelling (`endpoint`), the decompressed body (`packed`, `broken_frames`), the instants (`instants`) and
//! the client (`client`) in the headers, and the usage in the answer ([`crate::response`]).

mod broken_frames;
mod client;
mod endpoint;
mod headers;
mod instants;
mod packed;

use std::borrow::Cow;
use std::sync::Arc;

use forkcast_sim::outside::{quoted, word};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Addresses, Maker};

use crate::exchange::{ANTHROPIC, Dialect, Exchange, Origin};
use crate::formats::dialect::Translated;
use crate::formats::{body, dialect, json, spelled};
use crate::response::{self, Answer};
use endpoint::Endpoint;

pub(crate) use endpoint::host_by_folder;
pub use headers::Headers;
pub(crate) use instants::Clock;
pub(crate) use packed::unpacked;

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// `POST`, …
    pub method: Cow<'a, str>,
    /// The address, at least host and path.
    pub uri: Cow<'a, str>,
    /// Its headers; recorders often drop some of them.
    pub headers: Headers<'a>,
    /// Its body: bytes that may still be compressed as `content-encoding` says, or why they are missing.
    pub body: Result<Cow<'a, [u8]>, String>,
}

/// A recorded answer.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// HTTP status; `None` if the recorder dropped it.
    pub status: Option<u16>,
    /// Its headers.
    pub headers: Headers<'a>,
    /// Its body, as in [`Request`].
    pub body: Result<Cow<'a, [u8]>, String>,
}

/// A recorded request, by its purpose.
#[derive(Clone, Debug)]
pub enum Sorted {
    /// A request to a model.
    Model(Box<Exchange>),
    /// Another one (file uploads, token counting, telemetry): "`GET host/path` is no model request".
    Elsewhere(String),
}

/// Sorts a request by its address and reads its body. The error is about the body.
pub fn exchange(origin: Origin, request: &Request<'_>) -> Result<Sorted, String> {
    let Endpoint::Model { provider, dialect, model } = endpoint::of(&request.method, &request.uri) else {
        let (host, path) = endpoint::split(&request.uri);
        let method = word(&request.method).unwrap_or("…");
        let what = match endpoint::is_batch_results(path) {
            true => "fetches answers of a batch, which are not read yet",
            false => "is no model request",
        };
        return Ok(Sorted::Elsewhere(format!("{} {what}", quoted(&format!("{method} {host}{path}")))));
    };
    let packed = request.body.as_ref().map_err(Clone::clone)?;
    let body = unpacked(packed, request.headers.get("content-encoding"))?;
    let sent = ModelRequest::new(provider, dialect, model, &body)?;
    let mut exchange = Exchange::request_only(origin, sent.model, sent.body.into_owned());
    exchange.addresses = sent.addresses;
    exchange.provider = sent.provider;
    exchange.dialect = sent.dialect;
    exchange.region = endpoint::region(endpoint::split(&request.uri).0).map(str::to_owned);
    exchange.client = request.headers.get("user-agent").and_then(client::client);
    let agent = client::agent(&request.headers, has_tools(&exchange.body));
    (exchange.chain, exchange.parent) = (agent.chain, agent.parent);
    exchange.agent_kind = agent.kind.map(str::to_owned);
    Ok(Sorted::Model(Box::new(exchange)))
}

/// Whether a body has tools: conversations do, a client's side requests do not.
fn has_tools(body: &[u8]) -> bool {
    json::member(body, "tools").is_some_and(|tools| json::elements(tools).next().is_some())
}

/// Sets status and usage of `exchange`, and the answer itself if it `keeps` that; returns everything else about it.
pub(crate) fn attach(exchange: &mut Exchange, response: &Response<'_>, keeps: bool) -> Answer {
    exchange.status = response.status;
    if exchange.failed() && !keeps && exchange.status != Some(response::REFUSED) {
        return Answer::default();
    }
    let body = response.body.as_ref().map_err(Clone::clone);
    let body = body.and_then(|packed| unpacked(packed, response.headers.get("content-encoding")));
    let body = body.map(|body| loose_frames(&body).map_or(body, Cow::Owned));
    if keeps && let Ok(body) = &body {
        exchange.keep(body);
        let wait = response.headers.get("retry-after").and_then(|seconds| seconds.trim().parse().ok());
        exchange.answer.iter_mut().for_each(|answer| answer.retry_after = wait.map(Duration::from_secs));
    }
    if exchange.failed() {
        exchange.thinking_refused = body.ok().and_then(|body| response::thinking_refused(exchange.status, &body));
        return Answer::default();
    }
    let mut answer = match body {
        Ok(body) => response::attach(exchange, &body),
        Err(why) => Answer { faults: vec![why], ..Answer::default() },
    };
    if answer.usage.is_none() && exchange.dialect == Dialect::BedrockInvoke {
        let counted = response::counted_by_headers(|name| response.headers.get(name));
        let fault = answer.faults.last_mut().zip(counted);
        fault.into_iter().for_each(|(fault, counted)| fault.push_str(&format!("; its {counted}")));
    }
    answer
}

/// AWS frames that a recorder broke by keeping them as text. Whole ones are read directly.
fn loose_frames(body: &[u8]) -> Option<Vec<u8>> {
    if response::is_framed(body) { None } else { broken_frames::text(body) }
}

/// A request to a model, with a body in its final spelling.
struct ModelRequest<'a> {
    provider: String,
    dialect: Dialect,
    model: String,
    body: Cow<'a, [u8]>,
    addresses: Option<Arc<Addresses>>,
}

impl<'a> ModelRequest<'a> {
    fn new(provider: String, dialect: Dialect, address: Option<String>, body: &'a [u8]) -> Result<Self, String> {
        let named = body::check(body).map_err(|broken| format!("request body, byte {}: {}", broken.at, broken.what))?;
        let model = address.unwrap_or(named);
        let (provider, dialect) = asked(provider, dialect, &model, body);
        let translated = if provider == ANTHROPIC { dialect::translate(dialect, body, &model)? } else { None };
        let (body, addresses) = match translated {
            Some(Translated { body, addresses }) => (Cow::Owned(body.to_json()), Some(Arc::new(addresses))),
            None => (Cow::Borrowed(body), None),
        };
        Ok(Self { provider, dialect, model, body, addresses })
    }
}

/// Provider and spelling of a request. The address decides, unless it is shared: by Claude and other models, or by anything at
/// all, of an unknown host.
fn asked(provider: String, dialect: Dialect, model: &str, body: &[u8]) -> (String, Dialect) {
    let is_unknown = endpoint::is_unknown(&provider);
    let claudes = match dialect {
        Dialect::BedrockInvoke | Dialect::BedrockConverse => Some(dialect),
        Dialect::Messages if is_unknown || spelled::is_claude(model) => Some(dialect),
        Dialect::ChatCompletions if json::member(body, "messages").is_none() => None,
        Dialect::ChatCompletions if is_unknown || (provider == "openrouter" && spelled::is_claude(model)) => {
            Some(Dialect::OpenRouter)
        }
        _ => None,
    };
    match (spelled::provider(model, || body), claudes) {
        (None, Some(dialect)) => (ANTHROPIC.to_owned(), dialect),
        // A gateway keeps its name, except if the rules of the model's maker are known.
        (Some(named), _) if is_unknown && (provider.is_empty() || Maker::of_provider(named) != Maker::Other) => {
            (named.to_owned(), dialect)
        }
        _ if provider.is_empty() => (spelled::UNKNOWN.to_owned(), dialect),
        _ => (provider, dialect),
    }
}
