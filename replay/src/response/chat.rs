//! Usage of chat completions and embeddings, of `OpenAI` and of all who took them over.
//!
//! Sources: `OpenAI` API reference and prompt-caching guide (2026-10); `DeepSeek`, context caching, `prompt_cache_hit_tokens`
//! and `…_miss_tokens` (2026-10); Moonshot, `usage.cached_tokens` (2026-10); Groq, `x_groq.usage` in streams (2026-10);
//! `OpenRouter`, usage accounting, `cost` (2026-10); xAI, `cost_in_usd_ticks` (2026-10); `LiteLLM`, which writes Anthropic's
//! names beside these and counts them within `prompt_tokens` (2026-10).

use forkcast_sim::pricing::Money;
use serde_json::Value;

use super::chunks::{self, Grammar};
use super::payload::Events;
use super::subset::{self, PromptCounts};
use super::tokens::{Fields, agreed, count, count_at, keys, required, word};
use super::{Answer, UsageReport};
use crate::exchange::RecordedUsage;
use crate::formats::json::{elements, member, member_text, present};

/// Where providers put what was read.
const READ: &[&[&str]] = &[
    &["prompt_tokens_details", "cached_tokens"],
    &["prompt_cache_hit_tokens"],
    &["cached_tokens"],
    &["cache_read_input_tokens"],
];

/// Where they put what was written.
const WRITTEN: &[&[&str]] = &[
    &["prompt_tokens_details", "cache_write_tokens"],
    &["prompt_tokens_details", "cache_creation_tokens"],
    &["cache_creation_input_tokens"],
];

const REASONING: &[&[&str]] = &[&["completion_tokens_details", "reasoning_tokens"], &["reasoning_tokens"]];

/// xAI writes prices in units of 10⁻¹⁰ USD.
const PICOUSD_PER_TICK: u64 = 100;
const PICOUSD_PER_USD: f64 = 1e12;

/// Reads a chat completion, or one chunk of its stream.
pub(super) fn read_json(body: &[u8]) -> Answer {
    let Some(raw) = usage_of(body) else { return Answer::lacking_usage(body, "usage") };
    Answer::of(raw, |fields| usage(fields, is_gemini(body))).named_by(body, "model").tiered_by(body, "service_tier")
}

/// Reads the chunks of a stream.
pub(super) fn read_stream(events: &Events<'_>) -> Answer {
    let grammar = Grammar {
        carries: |chunk| usage_of(chunk).is_some(),
        ends: is_finished,
        read: read_json,
        missing: "found no `usage` in any chunk",
    };
    chunks::read(events, &grammar)
}

/// Reads an answer with embeddings: input alone, of which some providers only write the total.
pub(super) fn read_embeddings(body: &[u8]) -> Answer {
    let billed = || member(body, "meta").and_then(|meta| member(meta, "billed_units"));
    let Some(raw) = usage_of(body).or_else(billed) else { return Answer::lacking_usage(body, "usage") };
    Answer::of(raw, embedded).named_by(body, "model")
}

fn embedded(fields: &Fields) -> Result<UsageReport, String> {
    let input =
        ["prompt_tokens", "input_tokens", "total_tokens"].iter().find_map(|name| count(fields, name).transpose());
    let mut recorded = RecordedUsage::default();
    recorded.usage.input_tokens =
        input.ok_or_else(|| format!("usage has no `prompt_tokens`, its keys are {}", keys(fields)))??;
    Ok(recorded.into())
}

/// Groq's chunks hold usage of their own, which is the whole one where both are there.
fn usage_of(body: &[u8]) -> Option<&[u8]> {
    let groq = member(body, "x_groq").and_then(|groq| present(groq, "usage"));
    groq.or_else(|| present(body, "usage"))
}

fn is_finished(chunk: &[u8]) -> bool {
    let Some(choices) = member(chunk, "choices") else { return false };
    elements(choices).any(|choice| present(choice, "finish_reason").is_some())
}

fn is_gemini(body: &[u8]) -> bool {
    member_text(body, "model").is_some_and(|model| model.contains("gemini"))
}

/// `prompt_tokens` is the whole prompt; what was read and written is part of it.
fn usage(fields: &Fields, is_gemini: bool) -> Result<UsageReport, String> {
    let prompt = PromptCounts {
        name: "prompt_tokens",
        tokens: required(fields, "prompt_tokens")?,
        read: agreed(fields, READ)?.unwrap_or(0),
        written: agreed(fields, WRITTEN)?.unwrap_or(0),
    };
    let (prompt, overlap) = if is_gemini { prompt.without_overlap() } else { (prompt, None) };
    missed(fields, prompt)?;
    let completion = count(fields, "completion_tokens")?.unwrap_or(0);
    let (prompt, hidden) = prompt.without_hidden_reads(completion, count(fields, "total_tokens")?);
    let reasoning = agreed(fields, REASONING)?.unwrap_or(0);
    let (output, odd) = subset::output(prompt, completion, reasoning, count(fields, "total_tokens")?)?;
    let recorded = RecordedUsage {
        usage: prompt.additive(output)?,
        reasoning_tokens: reasoning,
        input_audio_tokens: count_at(fields, &["prompt_tokens_details", "audio_tokens"])?.unwrap_or(0),
        output_audio_tokens: count_at(fields, &["completion_tokens_details", "audio_tokens"])?.unwrap_or(0),
        ..extras(fields)?
    };
    let tier = word(fields, "service_tier").map(str::to_owned);
    Ok(UsageReport {
        recorded,
        odd: odd.into_iter().chain(overlap).chain(hidden).chain(doubt(fields)?).collect(),
        tier,
    })
}

/// `DeepSeek` counts hits and misses, which together are the prompt.
fn missed(fields: &Fields, prompt: PromptCounts) -> Result<(), String> {
    match count(fields, "prompt_cache_miss_tokens")? {
        Some(missed) if prompt.read.checked_add(missed) != Some(prompt.tokens) => Err(format!(
            "{} tokens hit and {missed} missed the cache, expected the {} of `prompt_tokens` together",
            prompt.read, prompt.tokens
        )),
        _ => Ok(()),
    }
}

/// From 2025-04 on `LiteLLM` left what was written out of `prompt_tokens`, later versions do not (pull request 9838), and no
/// field tells which one answered.
fn doubt(fields: &Fields) -> Result<Option<String>, String> {
    let written = count(fields, "cache_creation_input_tokens")?.unwrap_or(0);
    Ok((written > 0).then(|| {
        format!("the {written} of `cache_creation_input_tokens` are taken as part of `prompt_tokens`; some versions of LiteLLM leave them out")
    }))
}

/// What a bill needs beside tokens.
pub(super) fn extras(fields: &Fields) -> Result<RecordedUsage, String> {
    const TOOLS: &str = "server_side_tool_usage_details";
    let pieces = |path: &[&str]| count_at(fields, path).map(Option::unwrap_or_default);
    let searched = pieces(&[TOOLS, "web_search_calls"])? + pieces(&[TOOLS, "x_search_calls"])?;
    Ok(RecordedUsage {
        web_search_requests: searched
            + pieces(&["server_tool_use", "web_search_requests"])?
            + pieces(&["num_search_queries"])?,
        code_execution_requests: pieces(&[TOOLS, "code_interpreter_calls"])?,
        reported_cost: cost(fields),
        ..RecordedUsage::default()
    })
}

/// What the answer says that it cost. Anything but a number from 0 on (some gateways write an object) is no cost.
fn cost(fields: &Fields) -> Option<Money> {
    if let Some(ticks) = fields.get("cost_in_usd_ticks").and_then(Value::as_u64) {
        return Some(Money::from_picousd(i128::from(ticks) * i128::from(PICOUSD_PER_TICK)));
    }
    let usd = fields.get("cost").and_then(Value::as_f64).filter(|usd| (0.0..1e9).contains(usd))?;
    Some(Money::from_picousd((usd * PICOUSD_PER_USD).round() as i128))
}
