//! Usage of chat completions and embeddings, of `OpenAI` and of all providers with the same API.
//!
//! Sources: `OpenAI` API reference and prompt-caching guide (2026-10); `DeepSeek`, context caching, `prompt_cache_hit_tokens`
//! and `…_miss_tokens` (2026-10); Moonshot, `usage.cached_tokens` (2026-10); Groq, `x_groq.usage` in streams (2026-10);
//! `OpenRouter`, usage accounting, `cost`, and `provider`, the
//! upstream provider (2026-10); Mistral, `num_cached_tokens` (recordings of 2026); llama.cpp, `timings.cache_n`, which is
//! all that older servers have (recordings of 2026-06); xAI, `cost_in_usd_ticks` (2026-10); `LiteLLM`, which adds Anthropic's
//! names and includes their counts in `prompt_tokens` (2026-10).

use std::borrow::Cow;

use forkcast_sim::pricing::Money;
use serde_json::Value;

use super::chunks::Grammar;
use super::subset;
use super::tokens::{Fields, agreed, count, count_at, count_or_zero, fields, keys, required, word};
use super::{Answer, UsageReport};
use crate::count::{PromptCounts, usd};
use crate::exchange::RecordedUsage;
use crate::formats::json::{elements, member, member_text, present};

/// The fields of read tokens.
const READ: &[&[&str]] = &[
    &["prompt_tokens_details", "cached_tokens"],
    &["prompt_cache_hit_tokens"],
    &["cached_tokens"],
    &["num_cached_tokens"],
    &["cache_read_input_tokens"],
];

/// The fields of written tokens.
const WRITTEN: &[&[&str]] = &[
    &["prompt_tokens_details", "cache_write_tokens"],
    &["prompt_tokens_details", "cache_creation_tokens"],
    &["cache_creation_input_tokens"],
];

const REASONING: &[&[&str]] = &[&["completion_tokens_details", "reasoning_tokens"], &["reasoning_tokens"]];

/// xAI writes prices in units of 10⁻¹⁰ USD.
const PICOUSD_PER_TICK: u64 = 100;

/// Reads a chat completion, or one chunk of its stream.
pub(super) fn read_json(body: &[u8]) -> Answer {
    let Some(raw) = usage_of(body) else { return Answer::lacking_usage(body, "usage") };
    let answer = Answer::of(raw, |fields| {
        let mut fields = fields.clone();
        llama_cpp(body, &mut fields)?;
        usage(&fields, is_gemini(body))
    });
    let upstream = member_text(body, "provider").map(Cow::into_owned);
    Answer { upstream, ..answer.named_by(body, "model").tiered_by(body, "service_tier") }
}

/// The chunks of a stream.
pub(super) const STREAM: Grammar = Grammar {
    carries: |chunk| usage_of(chunk).is_some(),
    ends: is_finished,
    read: read_json,
    missing: "found no `usage` in any chunk",
};

/// Reads an answer with embeddings. It has only input; some providers write only the total.
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

/// Groq's chunks have usage in a field of their own, which is the complete one if both are present.
fn usage_of(body: &[u8]) -> Option<&[u8]> {
    let groq = member(body, "x_groq").and_then(|groq| present(groq, "usage"));
    groq.or_else(|| present(body, "usage"))
}

fn is_finished(chunk: &[u8]) -> bool {
    let Some(choices) = member(chunk, "choices") else { return false };
    elements(choices).any(|choice| present(choice, "finish_reason").is_some())
}

/// Adds the tokens that a server of llama.cpp read, which are in `timings` and in newer versions in the usage too.
fn llama_cpp(body: &[u8], usage: &mut Fields) -> Result<(), String> {
    let Some(timings) = member(body, "timings") else { return Ok(()) };
    if let Some(read) = count(&fields(timings)?, "cache_n")? {
        usage.insert("cached_tokens".to_owned(), read.into());
    }
    Ok(())
}

fn is_gemini(body: &[u8]) -> bool {
    member_text(body, "model").is_some_and(|model| model.contains("gemini"))
}

/// `prompt_tokens` is the whole prompt, with read and written tokens.
fn usage(fields: &Fields, is_gemini: bool) -> Result<UsageReport, String> {
    let prompt = PromptCounts {
        name: "prompt_tokens",
        tokens: required(fields, "prompt_tokens")?,
        read: agreed(fields, READ)?,
        written: agreed(fields, WRITTEN)?,
    };
    let (prompt, overlap) = if is_gemini { prompt.without_overlap() } else { (prompt, None) };
    missed(fields, prompt)?;
    let completion = count_or_zero(fields, "completion_tokens")?;
    let (prompt, hidden) = prompt.without_hidden_reads(completion, count(fields, "total_tokens")?);
    let reasoning = agreed(fields, REASONING)?;
    let (output, odd) = subset::output(prompt, completion, reasoning, count(fields, "total_tokens")?)?;
    let recorded = RecordedUsage {
        usage: prompt.additive(output)?,
        reasoning_tokens: reasoning,
        input_audio_tokens: count_at(fields, &["prompt_tokens_details", "audio_tokens"])?,
        output_audio_tokens: count_at(fields, &["completion_tokens_details", "audio_tokens"])?,
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

/// From 2025-04 on `LiteLLM` did not include written tokens in `prompt_tokens`, later versions do (pull request 9838), and
/// no field shows the version.
fn doubt(fields: &Fields) -> Result<Option<String>, String> {
    let written = count_or_zero(fields, "cache_creation_input_tokens")?;
    Ok((written > 0).then(|| {
        format!("the {written} of `cache_creation_input_tokens` are taken as part of `prompt_tokens`; some versions of LiteLLM leave them out")
    }))
}

/// Other data for the bill besides tokens.
pub(super) fn extras(fields: &Fields) -> Result<RecordedUsage, String> {
    const TOOLS: &str = "server_side_tool_usage_details";
    let pieces = |path: &[&str]| count_at(fields, path);
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

/// The cost in the answer. Anything but a number from 0 on (some gateways write an object) is ignored.
fn cost(fields: &Fields) -> Option<Money> {
    if let Some(ticks) = fields.get("cost_in_usd_ticks").and_then(Value::as_u64) {
        return Some(Money::from_picousd(i128::from(ticks) * i128::from(PICOUSD_PER_TICK)));
    }
    fields.get("cost").and_then(Value::as_f64).and_then(usd)
}
