//! Usage of the Responses API. Sources: `OpenAI` API reference, prompt-caching and web-search guides (2026-10): only the
//! actions that search are charged; the recordings of `OpenAI`, xAI, `DeepSeek` and `OpenRouter` include reasoning in the output.

use super::chunks::Grammar;
use super::subset;
use super::tokens::{Fields, agreed, count, count_at, count_or_zero, required};
use super::{Answer, UsageReport, chat};
use crate::count::PromptCounts;
use crate::exchange::RecordedUsage;
use crate::formats::json::{elements, member, member_text, present};

const WRITTEN: &[&[&str]] =
    &[&["input_tokens_details", "cache_write_tokens"], &["input_tokens_details", "cache_creation_tokens"]];

/// Reads a response object.
pub(super) fn read_json(body: &[u8]) -> Answer {
    let Some(raw) = present(body, "usage") else { return Answer::lacking_usage(body, "usage") };
    let mut answer = Answer::of(raw, usage).named_by(body, "model").tiered_by(body, "service_tier");
    if let Some(usage) = &mut answer.usage {
        let (searches, runs) = tool_calls(body);
        // If the usage counts them too, the items are the same calls.
        usage.web_search_requests = usage.web_search_requests.max(searches);
        usage.code_execution_requests = usage.code_execution_requests.max(runs);
        usage.server_passes |= usage.web_search_requests + usage.code_execution_requests > 0;
    }
    answer
}

/// The events of a stream: the last one has the whole response.
pub(super) const STREAM: Grammar = Grammar {
    carries: |event| whole(event).is_some_and(|response| present(response, "usage").is_some()),
    ends: |event| whole(event).is_some(),
    read: |event| read_json(whole(event).unwrap_or(event)),
    missing: "found no `response.completed` with `usage` among the events",
};

/// The response in an event that ends it.
fn whole(event: &[u8]) -> Option<&[u8]> {
    let kind = member_text(event, "type")?;
    let ends = matches!(&*kind, "response.completed" | "response.incomplete" | "response.failed" | "response.done");
    ends.then(|| member(event, "response")).flatten()
}

/// Web searches and runs of code by the provider's own tools.
fn tool_calls(response: &[u8]) -> (u64, u64) {
    let Some(output) = member(response, "output") else { return (0, 0) };
    let (mut searches, mut runs) = (0, 0);
    for item in elements(output) {
        match member_text(item, "type").as_deref() {
            Some("web_search_call") => searches += u64::from(has_searched(item)),
            Some("code_interpreter_call") => runs += 1,
            _ => {}
        }
    }
    (searches, runs)
}

/// Opening a page and searching in it are free. A call without an action is older than actions, when all were searches.
fn has_searched(call: &[u8]) -> bool {
    let action = member(call, "action").and_then(|action| member_text(action, "type"));
    action.is_none_or(|action| action == "search")
}

/// `input_tokens` is the whole prompt, with read and written tokens.
fn usage(fields: &Fields) -> Result<UsageReport, String> {
    let prompt = PromptCounts {
        name: "input_tokens",
        tokens: required(fields, "input_tokens")?,
        read: count_at(fields, &["input_tokens_details", "cached_tokens"])?,
        written: agreed(fields, WRITTEN)?,
    };
    let reasoning = count_at(fields, &["output_tokens_details", "reasoning_tokens"])?;
    let output = count_or_zero(fields, "output_tokens")?;
    let (output, odd) = subset::output(prompt, output, reasoning, count(fields, "total_tokens")?)?;
    let recorded =
        RecordedUsage { usage: prompt.additive(output)?, reasoning_tokens: reasoning, ..chat::extras(fields)? };
    Ok(UsageReport { recorded, odd: Vec::from_iter(odd), tier: None })
}
