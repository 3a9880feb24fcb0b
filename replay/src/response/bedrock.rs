//! Usage of Bedrock: Converse, and `InvokeModel` of vendors other than Anthropic.
//!
//! Sources: Bedrock API reference, `TokenUsage` and `CacheDetail` (2026-10); Bedrock user guide, inference parameters of Nova,
//! Titan, Llama and others (2026-10). In recorded Converse answers `totalTokens` is the sum of input, read, written and
//! output. `InvokeModel` also has counts in response headers (`x-amzn-bedrock-input-token-count`); no page of the provider
//! defines them, so they are only mentioned if there is no other usage, and not billed.

use forkcast_sim::wire::Usage;
use serde_json::Value;

use super::chunks::{self, Grammar};
use super::payload::Events;
use super::tokens::{Fields, agreed, count, count_or_zero, fields, list, required, word};
use super::{Answer, UsageReport, chat, messages, stream};
use crate::exchange::RecordedUsage;
use crate::formats::json::{member, member_text, present};

const READ: &[&[&str]] = &[&["cacheReadInputTokens"], &["cacheReadInputTokenCount"]];
const WRITTEN: &[&[&str]] = &[&["cacheWriteInputTokens"], &["cacheWriteInputTokenCount"]];
const METRICS: &str = "amazon-bedrock-invocationMetrics";

/// Reads a Converse answer, or the `metadata` event of its stream.
pub(super) fn read_converse(body: &[u8]) -> Answer {
    let Some(raw) = present(body, "usage") else { return Answer::lacking_usage(body, "usage") };
    let answer = Answer::of(raw, converse);
    match member(body, "serviceTier") {
        Some(tier) => answer.tiered_by(tier, "type"),
        None => answer,
    }
}

/// The events of a Converse stream; usage comes after the end of the message.
pub(super) const CONVERSE_STREAM: Grammar = Grammar {
    carries: |event| present(event, "usage").is_some(),
    ends: |event| present(event, "usage").is_some(),
    read: read_converse,
    missing: "found no `metadata` with `usage` among the events",
};

/// Reads an `InvokeModel` answer; its keys show the vendor.
pub(super) fn read_invoke(body: &[u8]) -> Answer {
    match present(body, "usage") {
        Some(usage) if member(usage, "input_tokens").is_some() => messages::read_json(body),
        Some(usage) if member(usage, "prompt_tokens").is_some() => chat::read_json(body),
        Some(_) => read_converse(body),
        None if member(body, METRICS).is_some() => read_metrics(body),
        None if member(body, "prompt_token_count").is_some() => Answer::of(body, llama),
        None if member(body, "inputTextTokenCount").is_some() => Answer::of(body, titan),
        None => Answer::lacking_usage(body, "usage"),
    }
}

/// Reads the chunks of an `InvokeModel` stream: events of the Messages API, or others with metrics in the last chunk.
pub(super) fn read_invoke_stream(events: &Events<'_>) -> Answer {
    let is_message = |event: &[u8]| member_text(event, "type").is_some_and(|kind| kind == "message_start");
    if events.list.iter().any(|event| is_message(&event.data)) {
        return stream::read(events);
    }
    let grammar = Grammar {
        carries: |event| member(event, METRICS).is_some(),
        ends: |event| member(event, METRICS).is_some(),
        read: read_metrics,
        missing: "found no `amazon-bedrock-invocationMetrics` in any chunk",
    };
    chunks::read(events, &grammar)
}

fn read_metrics(body: &[u8]) -> Answer {
    Answer::of(member(body, METRICS).unwrap_or_default(), metrics)
}

/// The counts in the last chunk of a stream, which are additive.
fn metrics(fields: &Fields) -> Result<UsageReport, String> {
    disjoint(fields, "inputTokenCount", "outputTokenCount").map(UsageReport::from)
}

/// `inputTokens` were neither read nor written; `cacheDetails` splits the written tokens by lifetime.
fn converse(fields: &Fields) -> Result<UsageReport, String> {
    let recorded = disjoint(fields, "inputTokens", "outputTokens")?;
    let usage = recorded.usage;
    let beside = usage.total_input_tokens() + usage.output_tokens;
    let cached = usage.cached_input_tokens();
    let odd = match count(fields, "totalTokens")? {
        Some(total) if cached > 0 && total == beside - cached => {
            return Err(format!(
                "`totalTokens` is {total}, as if the {cached} read or written tokens were part of `inputTokens`, \
                 expected them beside it"
            ));
        }
        Some(total) if total != beside => {
            Some(format!("`totalTokens` is {total}, expected the sum of its parts, {beside}; the parts are taken"))
        }
        _ => None,
    };
    Ok(UsageReport { recorded, odd: Vec::from_iter(odd), tier: None })
}

fn disjoint(fields: &Fields, input: &str, output: &str) -> Result<RecordedUsage, String> {
    let written = agreed(fields, WRITTEN)?;
    let (mut short, mut long) = (0_u64, 0_u64);
    for detail in list(fields, "cacheDetails").iter().filter_map(Value::as_object) {
        let tokens = count_or_zero(detail, "inputTokens")?;
        match word(detail, "ttl") {
            Some("1h") => long += tokens,
            _ => short += tokens,
        }
    }
    let split_by_ttl = short + long == written && written > 0;
    let (short, long) = if split_by_ttl { (short, long) } else { (written, 0) };
    Ok(RecordedUsage {
        usage: Usage {
            input_tokens: required(fields, input)?,
            cache_read_input_tokens: agreed(fields, READ)?,
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: count_or_zero(fields, output)?,
        },
        split_by_ttl,
        ..RecordedUsage::default()
    })
}

fn llama(fields: &Fields) -> Result<UsageReport, String> {
    let mut recorded = RecordedUsage::default();
    recorded.usage.input_tokens = required(fields, "prompt_token_count")?;
    recorded.usage.output_tokens = count_or_zero(fields, "generation_token_count")?;
    Ok(recorded.into())
}

/// Titan answers with several results, or with an embedding and none.
fn titan(fields: &Fields) -> Result<UsageReport, String> {
    let mut recorded = RecordedUsage::default();
    recorded.usage.input_tokens = required(fields, "inputTextTokenCount")?;
    for result in list(fields, "results").iter().filter_map(Value::as_object) {
        recorded.usage.output_tokens += count_or_zero(result, "tokenCount")?;
    }
    Ok(recorded.into())
}

/// Usage of a Messages stream without its beginning, from the metrics that Bedrock adds at its end.
pub(super) fn metrics_of(event: &[u8]) -> Option<Result<RecordedUsage, String>> {
    let raw = member(event, METRICS)?;
    Some(fields(raw).and_then(|fields| metrics(&fields)).map(|found| found.recorded))
}

/// The counts in the headers of an answer without usage, in words.
pub(crate) fn counted_by_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    const NAMES: [(&str, &str); 4] = [
        ("x-amzn-bedrock-input-token-count", "input"),
        ("x-amzn-bedrock-cache-read-input-token-count", "read"),
        ("x-amzn-bedrock-cache-write-input-token-count", "written"),
        ("x-amzn-bedrock-output-token-count", "output"),
    ];
    let counts = NAMES.iter().filter_map(|(name, what)| Some((header(name)?.trim().parse::<u64>().ok()?, what)));
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    let words = counts.join(", ");
    (!words.is_empty()).then(|| format!("headers count {words} tokens; no page says how, so they are not billed"))
}
