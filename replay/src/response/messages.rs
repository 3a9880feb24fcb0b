//! Usage of the Messages API. Names: Anthropic SDK, `types/usage.py` and `types/beta/beta_usage.py` (2026-09).

use forkcast_sim::diagnosis::{AnsweredThinking, DropReason, refusal_of_thinking};
use forkcast_sim::wire::{Usage, number};

use super::tokens::{Fields, count, count_at, count_or_zero, list, object, required, word};
use super::{Answer, UsageReport, iterations};
use crate::exchange::RecordedUsage;
use crate::formats::json::{elements, member, member_text, present};

/// Reads a message object.
pub(super) fn read_json(body: &[u8]) -> Answer {
    let Some(raw) = present(body, "usage") else { return Answer::lacking_usage(body, "usage") };
    let model = member_text(body, "model");
    let mut answer = Answer::of(raw, |fields| usage(fields, model.as_deref())).named_by(body, "model");
    if let Some(usage) = &mut answer.usage {
        usage.server_passes |= has_server_tool_use(body);
        usage.applied_edits = applied_edits(body);
        usage.thinking = thinking(body);
    }
    answer
}

fn has_server_tool_use(message: &[u8]) -> bool {
    member(message, "content").is_some_and(|content| elements(content).any(is_server_tool_use))
}

/// Whether a content block is a call of a tool that the provider runs itself.
pub(super) fn is_server_tool_use(block: &[u8]) -> bool {
    member_text(block, "type").is_some_and(|kind| kind == "server_tool_use")
}

/// The number of context edits in `context_management.applied_edits`.
pub(super) fn applied_edits(message: &[u8]) -> u32 {
    member(message, "context_management").map_or(0, edits_of)
}

/// The number of context edits in the value of `context_management`.
pub(crate) fn edits_of(context: &[u8]) -> u32 {
    member(context, "applied_edits").map_or(0, |edits| number(elements(edits).count()))
}

/// What `input_transformations` of a message, or of an event of its stream, say of thinking; `None` without the list.
/// Unknown types pass (`providers-2026-11.md` A.4: preserved-thinking page of 2026-09-26, release notes of 2026-09-14).
pub(super) fn thinking(holder: &[u8]) -> Option<AnsweredThinking> {
    let mut answered = AnsweredThinking::default();
    for element in elements(present(holder, "input_transformations")?) {
        match member_text(element, "type").as_deref() {
            Some("thinking_dropped") => {
                answered.dropped += 1;
                let reason = || member_text(element, "reason").and_then(|reason| DropReason::named(&reason));
                answered.reason = answered.reason.or_else(reason);
            }
            Some("thinking_mismatch_allowed") => answered.allowed += 1,
            _ => {}
        }
    }
    Some(answered)
}

/// The status of a request that the provider does not accept.
pub(crate) const REFUSED: u16 = 400;

/// The message of an error that is about thinking in the request: `error.message`, or `message` of Bedrock.
pub(crate) fn thinking_refused(status: Option<u16>, body: &[u8]) -> Option<String> {
    let holder = present(body, "error").unwrap_or(body);
    let message = member_text(holder, "message").filter(|_| status == Some(REFUSED))?;
    refusal_of_thinking(&message).map(|_| message.into_owned())
}

/// Usage of a whole answer of `model`, whose parts are additive. If it lists several passes, the sum of those by its own
/// model is billed at its price, and those of other models (an advisor, a fallback) at theirs: the top level leaves these
/// and compactions out (`providers.md` 1.9, `observed.md` 6).
pub(super) fn usage(fields: &Fields, model: Option<&str>) -> Result<UsageReport, String> {
    let iterations = list(fields, "iterations");
    let passes = iterations::billed(one(fields)?, iterations, model)?;
    let pieces = |path: &[&str]| count_at(fields, path);
    let recorded = RecordedUsage {
        server_passes: iterations.len() > 1,
        web_search_requests: pieces(&["server_tool_use", "web_search_requests"])?,
        web_fetch_requests: pieces(&["server_tool_use", "web_fetch_requests"])?,
        code_execution_requests: pieces(&["server_tool_use", "code_execution_requests"])?,
        reasoning_tokens: pieces(&["output_tokens_details", "thinking_tokens"])?,
        fast: word(fields, "speed").map(|speed| speed == "fast"),
        geo_us: word(fields, "inference_geo").filter(|geo| *geo != "not_available").map(|geo| geo == "us"),
        ..passes
    };
    Ok(UsageReport { recorded, odd: Vec::new(), tier: word(fields, "service_tier").map(str::to_owned) })
}

/// Counts of one pass, or of the top level.
pub(super) fn one(fields: &Fields) -> Result<RecordedUsage, String> {
    let written = count(fields, "cache_creation_input_tokens")?;
    let (short, long) = match object(fields, "cache_creation") {
        Some(split) => (count(split, "ephemeral_5m_input_tokens")?, count(split, "ephemeral_1h_input_tokens")?),
        None => (None, None),
    };
    let sum = short.unwrap_or(0) + long.unwrap_or(0);
    // If the parts do not add up to the total, the total counts: it is the older and the billed field.
    let split_by_ttl = (short.is_some() || long.is_some()) && written.is_none_or(|written| written == sum);
    let (short, long) = if split_by_ttl { (short.unwrap_or(0), long.unwrap_or(0)) } else { (written.unwrap_or(0), 0) };
    Ok(RecordedUsage {
        usage: Usage {
            input_tokens: required(fields, "input_tokens")?,
            cache_read_input_tokens: count_or_zero(fields, "cache_read_input_tokens")?,
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: count_or_zero(fields, "output_tokens")?,
        },
        split_by_ttl,
        ..RecordedUsage::default()
    })
}
