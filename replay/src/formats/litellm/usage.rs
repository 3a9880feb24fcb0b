//! Usage in LiteLLM's spelling.
//!
//! `prompt_tokens` is the whole prompt; for Claude it is the sum of the provider's additive counts. From 2025-04 on
//! (pull request 9838) it did not include written tokens, in later versions it does again, and no field distinguishes
//! these: see [`Split`]. Reads are in `cache_read_input_tokens` or `prompt_tokens_details.cached_tokens`, writes in
//! `cache_creation_input_tokens` or `prompt_tokens_details.cache_creation_tokens`, their lifetimes in
//! `….cache_creation_token_details`, which for a streamed answer with server tools covers only the first pass (issue
//! 42663) and then does not add up to the total.

use forkcast_sim::wire::Maker;

use crate::exchange::{Exchange, RecordedUsage};
use crate::formats::logged::{self, Included, Split};
use crate::formats::value::Value;
use crate::response::{self, Answer, Counts};

/// Reads the usage of a record: from the answer, else from other fields of the log. The exchange `keeps` the answer.
pub(super) fn attach(exchange: &mut Exchange, record: &Value, keeps: bool) -> Answer {
    let answer = record.get("response").and_then(Value::parsed);
    if keeps && let Some(answer) = &answer {
        exchange.keep(&answer.to_json());
    }
    let own = answer.as_ref().filter(|answer| is_counted_by_provider(exchange, answer));
    if let Some(answer) = own {
        return response::attach_recognised(exchange, &answer.to_json());
    }
    let answer = beside(record, answer.as_ref());
    exchange.usage = answer.usage;
    answer
}

/// LiteLLM passes on the counts of other providers; those of Claude models it adds up, unless the answer is the
/// provider's.
fn is_counted_by_provider(exchange: &Exchange, answer: &Value) -> bool {
    let Some(usage) = answer.get("usage").filter(|usage| !usage.members().is_empty()) else { return false };
    exchange.maker() != Maker::Anthropic || usage.get("input_tokens").is_some()
}

fn beside(record: &Value, answer: Option<&Value>) -> Answer {
    let metadata = record.get("metadata").and_then(Value::parsed);
    let beside = |name: &str| {
        metadata.as_ref().and_then(|metadata| metadata.get(name)).filter(|usage| !usage.members().is_empty())
    };
    let objects = [answer.and_then(|answer| answer.get("usage")), beside("usage_object")];
    let found = objects.into_iter().flatten().find(|usage| usage.get("prompt_tokens").is_some());
    let usage = match found {
        Some(usage) => counted(usage, usage),
        None => counted(record, beside("additional_usage_values").unwrap_or(record)),
    };
    match usage {
        Ok(Some(usage)) => Answer { usage: Some(usage), ..Answer::default() },
        Ok(None) => Answer { notes: vec!["no usage in the log".to_owned()], ..Answer::default() },
        Err(why) => Answer { faults: vec![why], ..Answer::default() },
    }
}

/// `totals` has the counts of prompt and completion, `parts` the cached parts of the prompt.
fn counted(totals: &Value, parts: &Value) -> Result<Option<RecordedUsage>, String> {
    let totals = counts(totals)?;
    let (prompt, output) = (totals.get("prompt_tokens")?, totals.get_or_zero("completion_tokens")?);
    let Some(prompt) = prompt.filter(|prompt| prompt + output > 0) else { return Ok(None) };
    let top = counts(parts)?;
    let details = parts.get("prompt_tokens_details").filter(|details| !details.members().is_empty());
    let nested = counts(details.unwrap_or(&Value::Null))?;
    let read = top.get("cache_read_input_tokens")?.or(nested.get("cached_tokens")?).unwrap_or(0);
    let written = top.get("cache_creation_input_tokens")?.or(nested.get("cache_creation_tokens")?).unwrap_or(0);
    let lifetimes = details.and_then(|details| details.get("cache_creation_token_details")).map(counts).transpose()?;
    let lifetimes = lifetimes.map(|counts| {
        let short = counts.get_or_zero("ephemeral_5m_input_tokens")?;
        Ok::<_, String>((short, counts.get_or_zero("ephemeral_1h_input_tokens")?))
    });
    let split = Split::new(prompt, read, written, Included::Reads);
    let searches = counts(parts.at("server_tool_use"))?.get_or_zero("web_search_requests")?;
    let usage = logged::usage(split, output, lifetimes.transpose()?);
    Ok(Some(RecordedUsage { web_search_requests: searches, server_passes: searches > 0, ..usage }))
}

fn counts(object: &Value) -> Result<Counts, String> {
    match object {
        Value::Object(_) => Counts::new(&object.to_json()),
        _ => Counts::new(b"{}"),
    }
}
