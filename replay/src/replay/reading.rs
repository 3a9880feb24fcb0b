//! From a recorded exchange to a request that a cache can see.

use forkcast_sim::wire::model::{Platform, resolve};
use forkcast_sim::wire::{Request, Wire};

use crate::exchange::{Dialect, Exchange, Provider};

/// Why an exchange has no request that a cache could see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// No cache profile reads the requests of this provider.
    NoProfile(String),
    /// The recording left the prompt out.
    Unprompted,
    /// The body is no request.
    Unreadable(String),
}

/// The request of an exchange in the cache of `scope`, or in that of its own organisation where the input names one.
pub(super) fn read(wire: &mut Wire, scope: &str, exchange: &Exchange) -> Result<Request, NotRead> {
    if let Provider::Other(name) = &exchange.provider {
        return Err(NotRead::NoProfile(name.clone()));
    }
    if exchange.dialect == Dialect::Unprompted {
        return Err(NotRead::Unprompted);
    }
    let scope = format!("{}\u{0}{}", exchange.scope.as_deref().unwrap_or(scope), platform(exchange));
    let read = wire.read(&exchange.body, &scope, &exchange.model);
    let request = read.map_err(|error| NotRead::Unreadable(error.to_string()))?;
    Ok(Request { addresses: exchange.addresses.clone(), ..request })
}

/// Who runs the model: platforms share no cache. Isolation is per workspace or organisation of one platform (Anthropic
/// prompt-caching page, 2026-08-21).
pub(crate) fn platform(exchange: &Exchange) -> &'static str {
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
