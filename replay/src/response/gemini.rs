//! Usage of `generateContent`, on Google AI and on Vertex. Source: Gemini API reference, `UsageMetadata` (2026-10):
//! `promptTokenCount` includes tokens read from the cache, but not those that the provider's own tools added to the prompt;
//! the count of candidates does not include thoughts. Counts of zero are omitted. The Interactions API has the same
//! counts by other names (seen in recordings of 2026-07).

use serde_json::Value;

use super::chunks::{self, Grammar};
use super::payload::Events;
use super::tokens::{Fields, count, count_or_zero, keys, list, required, word};
use super::{Answer, UsageReport};
use crate::count::PromptCounts;
use crate::exchange::RecordedUsage;
use crate::formats::json::{elements, member, present};

/// Reads an answer, or one chunk of its stream.
pub(super) fn read_json(body: &[u8]) -> Answer {
    if let Some(raw) = interaction(body) {
        return Answer::of(raw, |fields| usage(fields, &OF_INTERACTION)).named_by(body, "model");
    }
    let Some(raw) = metadata(body) else { return Answer::lacking_usage(body, "usageMetadata") };
    let mut answer = Answer::of(raw, |fields| usage(fields, &OF_GENERATION)).named_by(body, "modelVersion");
    if let Some(usage) = &mut answer.usage {
        usage.web_search_requests = searches(body);
    }
    answer
}

/// Reads the chunks of a stream. Counts are cumulative; any chunk may have search queries.
pub(super) fn read_stream(events: &Events<'_>) -> Answer {
    let grammar = Grammar {
        carries: |chunk| metadata(chunk).is_some() || interaction(chunk).is_some(),
        ends: |chunk| {
            interaction(chunk).is_some()
                || candidates(chunk).any(|candidate| member(candidate, "finishReason").is_some())
                || is_blocked(chunk)
        },
        read: read_json,
        missing: "found no `usageMetadata` in any chunk",
    };
    let mut answer = chunks::read(events, &grammar);
    if let Some(usage) = &mut answer.usage {
        usage.web_search_requests = events.list.iter().map(|event| searches(&event.data)).max().unwrap_or(0);
    }
    answer
}

fn metadata(body: &[u8]) -> Option<&[u8]> {
    present(body, "usageMetadata")
}

/// The usage of an interaction, or of the event that ends its stream.
fn interaction(body: &[u8]) -> Option<&[u8]> {
    let usage = present(member(body, "interaction").unwrap_or(body), "usage")?;
    member(usage, OF_INTERACTION.prompt).map(|_| usage)
}

fn candidates(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    member(body, "candidates").into_iter().flat_map(elements)
}

fn is_blocked(body: &[u8]) -> bool {
    member(body, "promptFeedback").is_some_and(|feedback| member(feedback, "blockReason").is_some())
}

/// The number of queries that the grounding made.
fn searches(body: &[u8]) -> u64 {
    let queries = |candidate| member(member(candidate, "groundingMetadata")?, "webSearchQueries");
    candidates(body).filter_map(queries).map(|queries| elements(queries).count() as u64).sum()
}

/// The names of the counts.
struct Names {
    prompt: &'static str,
    read: &'static str,
    tools: &'static str,
    answered: &'static str,
    thought: &'static str,
    total: &'static str,
}

const OF_GENERATION: Names = Names {
    prompt: "promptTokenCount",
    read: "cachedContentTokenCount",
    tools: "toolUsePromptTokenCount",
    answered: "candidatesTokenCount",
    thought: "thoughtsTokenCount",
    total: "totalTokenCount",
};

const OF_INTERACTION: Names = Names {
    prompt: "total_input_tokens",
    read: "total_cached_tokens",
    tools: "total_tool_use_tokens",
    answered: "total_output_tokens",
    thought: "total_thought_tokens",
    total: "total_tokens",
};

fn usage(fields: &Fields, names: &Names) -> Result<UsageReport, String> {
    let part = |name| count_or_zero(fields, name);
    let (answered, thought) = (part(names.answered)?, part(names.thought)?);
    let tools = part(names.tools)?;
    let total = count(fields, names.total)?;
    let prompt = PromptCounts {
        name: names.prompt,
        tokens: prompt_tokens(fields, names.prompt, answered + thought + tools, total)?,
        read: part(names.read)?,
        written: 0,
    };
    let mut usage = prompt.additive(answered + thought)?;
    // The tools' share is never cached, because it is not known before the request runs.
    usage.input_tokens += tools;
    let sum = prompt.tokens + tools + answered + thought;
    let odd = total.filter(|total| *total != sum).map(|total| {
        format!("`{}` is {total}, expected the sum of its parts, {sum}; the parts are taken", names.total)
    });
    let recorded = RecordedUsage {
        usage,
        server_passes: tools > 0,
        reasoning_tokens: thought,
        input_audio_tokens: audio(fields, "promptTokensDetails")?,
        output_audio_tokens: audio(fields, "candidatesTokensDetails")?,
        ..RecordedUsage::default()
    };
    let tier = word(fields, "serviceTier").or_else(|| word(fields, "trafficType")).map(str::to_owned);
    Ok(UsageReport { recorded, odd: Vec::from_iter(odd), tier })
}

/// The count of the prompt. An omitted one is zero if the total confirms it.
fn prompt_tokens(fields: &Fields, name: &str, others: u64, total: Option<u64>) -> Result<u64, String> {
    match count(fields, name)? {
        Some(tokens) => Ok(tokens),
        None if total == Some(others) => Ok(0),
        None => Err(format!("usage has no `{name}`, its keys are {}", keys(fields))),
    }
}

/// Reads a cached object. Its size is the total; making it costs as much as plain input, and its storage is not counted.
pub(super) fn read_cached(body: &[u8]) -> Answer {
    let Some(raw) = metadata(body) else { return Answer::lacking_usage(body, "usageMetadata") };
    let size = |fields: &Fields| {
        let mut recorded = RecordedUsage::default();
        recorded.usage.input_tokens = required(fields, OF_GENERATION.total)?;
        Ok(recorded.into())
    };
    Answer::of(raw, size).named_by(body, "model")
}

fn audio(fields: &Fields, name: &str) -> Result<u64, String> {
    let sounds = list(fields, name).iter().filter_map(Value::as_object);
    let sounds = sounds.filter(|detail| word(detail, "modality") == Some("AUDIO"));
    sounds.map(|detail| count_or_zero(detail, "tokenCount")).sum()
}
