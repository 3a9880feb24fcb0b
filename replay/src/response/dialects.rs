//! Usage of Bedrock Converse and of `OpenRouter`, brought to the additive convention.

use forkcast_sim::wire::Usage;
use serde_json::Value;

use super::Answer;
use super::tokens::{Fields, count, fields, list, object, required};
use crate::exchange::RecordedUsage;
use crate::formats::json::member;

/// A Converse answer, or the `metadata` event of its stream.
pub(super) fn converse(body: &[u8]) -> Answer {
    answer(body, converse_usage)
}

/// A chat completion, or one chunk of its stream.
pub(super) fn openrouter(body: &[u8]) -> Answer {
    answer(body, openrouter_usage)
}

fn answer(body: &[u8], read: fn(&Fields) -> Result<RecordedUsage, String>) -> Answer {
    let Some(raw) = member(body, "usage").filter(|raw| *raw != b"null") else {
        return Answer::without_usage("answer has no `usage`");
    };
    match fields(raw).and_then(|fields| read(&fields)) {
        Ok(usage) => Answer { usage: Some(usage), ..Answer::default() },
        Err(why) => Answer::without_usage(why),
    }
}

/// `inputTokens` is what was neither read nor written; `cacheDetails` splits the written tokens by lifetime.
fn converse_usage(fields: &Fields) -> Result<RecordedUsage, String> {
    let written = count(fields, "cacheWriteInputTokens")?.unwrap_or(0);
    let (mut short, mut long) = (0, 0);
    for detail in list(fields, "cacheDetails").iter().filter_map(Value::as_object) {
        let tokens = count(detail, "inputTokens")?.unwrap_or(0);
        match detail.get("ttl").and_then(Value::as_str) {
            Some("1h") => long += tokens,
            _ => short += tokens,
        }
    }
    let split_by_ttl = short + long == written && written > 0;
    let (short, long) = if split_by_ttl { (short, long) } else { (written, 0) };
    Ok(RecordedUsage {
        usage: Usage {
            input_tokens: required(fields, "inputTokens")?,
            cache_read_input_tokens: count(fields, "cacheReadInputTokens")?.unwrap_or(0),
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: count(fields, "outputTokens")?.unwrap_or(0),
        },
        split_by_ttl,
        ..RecordedUsage::default()
    })
}

/// `prompt_tokens` is the whole prompt; what was read and written is part of it.
fn openrouter_usage(fields: &Fields) -> Result<RecordedUsage, String> {
    let prompt = required(fields, "prompt_tokens")?;
    let (read, written) = match object(fields, "prompt_tokens_details") {
        Some(details) => (count(details, "cached_tokens")?, count(details, "cache_write_tokens")?),
        None => (None, None),
    };
    let (read, written) = (read.unwrap_or(0), written.unwrap_or(0));
    let input_tokens = prompt.checked_sub(read + written).ok_or_else(|| {
        format!("`prompt_tokens` is {prompt}, expected at least the {read} read and {written} written ones")
    })?;
    Ok(RecordedUsage {
        usage: Usage {
            input_tokens,
            cache_read_input_tokens: read,
            ephemeral_5m_input_tokens: written,
            ephemeral_1h_input_tokens: 0,
            output_tokens: count(fields, "completion_tokens")?.unwrap_or(0),
        },
        ..RecordedUsage::default()
    })
}
