//! Requests to providers other than Anthropic, in the spelling of the Messages API, for the guard alone.
//!
//! What a body looks like decides how it is read: hosts offer several spellings, and one of them serves many hosts.

use forkcast_sim::wire::{Addresses, Maker};

use super::super::value::Value;
use super::{Translated, bedrock_converse, gemini, openai, plain};
use crate::exchange::Dialect;

/// Translates a body; `None` where its prompt stands nowhere that is known, or is empty.
pub(crate) fn translate(maker: Maker, dialect: Dialect, body: &Value, model: &str) -> Option<Translated> {
    let translated = match dialect {
        Dialect::Messages | Dialect::Rebuilt => as_it_is(body),
        Dialect::BedrockConverse => bedrock_converse::translate(body, model),
        _ if gemini::is_spelled(body) => gemini::translate(body, model),
        _ if bedrock_converse::is_spelled(body) => bedrock_converse::translate(body, model),
        _ if body.get("messages").is_some() || body.get("input").is_some() => openai::translate(maker, body),
        _ if plain::is_spelled(body) => plain::translate(body, model),
        _ => return None,
    };
    (!is_empty(&translated.body)).then_some(translated)
}

fn is_empty(body: &Value) -> bool {
    ["system", "messages"].iter().all(|key| match body.get(key) {
        Some(Value::List(elements)) => elements.is_empty(),
        found => found.is_none(),
    })
}

/// A body of the Messages API; where parts of it stand is known by themselves.
fn as_it_is(body: &Value) -> Translated {
    Translated { body: body.clone(), addresses: Addresses::default() }
}
