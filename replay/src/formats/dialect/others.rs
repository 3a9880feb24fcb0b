//! Requests to providers other than Anthropic, in the spelling of the Messages API, only for the guard.
//!
//! The shape of a body decides how it is read, because hosts offer several spellings and many hosts share one.

use forkcast_sim::wire::{Addresses, Maker};

use super::super::value::Value;
use super::{Translated, bedrock_converse, gemini, openai, plain};
use crate::exchange::Dialect;

/// Translates a body; `None` if its prompt is empty or not in a known place.
pub(crate) fn translate(maker: Maker, dialect: Dialect, body: &Value, model: &str) -> Option<Translated> {
    let translated = match dialect {
        Dialect::Messages | Dialect::Rebuilt => as_it_is(body),
        Dialect::BedrockConverse => bedrock_converse::translate(body, model),
        _ if gemini::is_spelled(body) => gemini::translate(body, model),
        _ if bedrock_converse::is_spelled(body) => bedrock_converse::translate(body, model),
        _ if body.get("messages").is_some() || body.get("input").is_some() => openai::translate(maker, body, model),
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

/// A body of the Messages API; its parts keep their places.
fn as_it_is(body: &Value) -> Translated {
    Translated { body: body.clone(), addresses: Addresses::default() }
}
