//! Usage of a span. By convention `gen_ai.usage.input_tokens` includes read and written tokens (semantic conventions
//! for generative AI, 2025-11 and later); counts below the sum of their parts were recorded as the provider gave them.

use forkcast_sim::wire::TOKENS_MAX;

use super::attributes::Attributes;
use crate::exchange::RecordedUsage;
use crate::formats::logged::{self, Included, Split};
use crate::formats::value::Value;

/// Names of the prompt count.
pub(super) const PROMPT: &[&str] =
    &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt"];

const OUTPUT: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
    "llm.token_count.completion",
];

const READ: &[&str] = &[
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.openai.usage.prompt_tokens_cached",
    "llm.token_count.prompt_details.cache_read",
];

const WRITTEN: &[&str] = &[
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_input_tokens",
    "gen_ai.usage.cache_creation_tokens",
    "gen_ai.usage.cache_write_tokens",
    "gen_ai.usage.input_tokens.cache_write",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
];

/// The usage of a span; `None` if it has none.
pub(super) fn of(attributes: &Attributes) -> Result<Option<RecordedUsage>, String> {
    let Some(prompt) = count(attributes, PROMPT)? else { return Ok(None) };
    let parts = |names| count(attributes, names).map(Option::unwrap_or_default);
    let split = Split::new(prompt, parts(READ)?, parts(WRITTEN)?, Included::Neither);
    Ok(Some(logged::usage(split, parts(OUTPUT)?, None)))
}

fn count(attributes: &Attributes, names: &[&str]) -> Result<Option<u64>, String> {
    let Some(name) = names.iter().find(|name| attributes.get(&[name]).is_some_and(|value| *value != Value::Null))
    else {
        return Ok(None);
    };
    match attributes.number(&[name]).filter(|count| *count <= TOKENS_MAX) {
        Some(count) => Ok(Some(count)),
        None => Err(format!("`{name}` is no whole number from 0 to {TOKENS_MAX}")),
    }
}
