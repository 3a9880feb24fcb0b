//! The dialect of an answer without an address, by marks that only one dialect has.

use crate::exchange::Dialect;
use crate::formats::json::{member, member_text};

/// The dialect of a JSON object: an answer or one event of a stream. `None` without an unambiguous mark; nothing is guessed.
pub(super) fn dialect(object: &[u8]) -> Option<Dialect> {
    let has = |name: &str| member(object, name).is_some();
    let kind = member_text(object, "object");
    match kind.as_deref() {
        Some("chat.completion" | "chat.completion.chunk" | "text_completion") => return Some(Dialect::ChatCompletions),
        Some("response") => return Some(Dialect::Responses),
        Some("list") if has("data") => return Some(Dialect::Embeddings),
        _ => {}
    }
    match member_text(object, "type").as_deref() {
        Some("message" | "message_start") => return Some(Dialect::Messages),
        Some("message-start" | "message-end") => return Some(Dialect::Cohere),
        Some(event) if event.starts_with("response.") => return Some(Dialect::Responses),
        _ => {}
    }
    if has("candidates") || has("usageMetadata") {
        return Some(Dialect::GenerateContent);
    }
    if has("choices") {
        return Some(Dialect::ChatCompletions);
    }
    if has("done") && (has("message") || has("response")) {
        return Some(Dialect::Ollama);
    }
    member(object, "usage").and_then(by_usage)
}

/// The dialect by the keys of a usage object. `input_tokens` and `output_tokens` alone mean the same in every dialect that
/// has them.
fn by_usage(usage: &[u8]) -> Option<Dialect> {
    let has = |name: &str| member(usage, name).is_some();
    if has("prompt_tokens") {
        Some(Dialect::ChatCompletions)
    } else if has("inputTokens") {
        Some(Dialect::BedrockConverse)
    } else if has("tokens") || has("billed_units") {
        Some(Dialect::Cohere)
    } else if has("cache_read_input_tokens") || has("cache_creation_input_tokens") {
        Some(Dialect::Messages)
    } else if has("input_tokens_details") {
        Some(Dialect::Responses)
    } else {
        has("input_tokens").then_some(Dialect::Messages)
    }
}
