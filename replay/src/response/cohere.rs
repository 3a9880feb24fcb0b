//! Usage of Cohere's chat. Sources: Cohere API reference, version 1 `meta`, version 2 `usage` (2026-10); recordings show that
//! `cached_tokens` and `reasoning_tokens` are part of `tokens`, and that `billed_units` excludes the frames that Cohere adds.

use super::chunks::Grammar;
use super::tokens::{Fields, count, count_or_zero, keys, object, required};
use super::{Answer, UsageReport};
use crate::count::PromptCounts;
use crate::exchange::{BilledUnits, RecordedUsage};
use crate::formats::json::{member, member_text, present};

/// Reads an answer of either version.
pub(super) fn read_json(body: &[u8]) -> Answer {
    let Some(raw) = usage_of(body) else { return Answer::lacking_usage(body, "usage") };
    Answer::of(raw, usage).named_by(body, "model")
}

/// The events of a stream: `message-end` of version 2, `stream-end` of version 1.
pub(super) const STREAM: Grammar = Grammar {
    carries: |event| last(event).is_some_and(|last| usage_of(last).is_some()),
    ends: |event| last(event).is_some(),
    read: |event| read_json(last(event).unwrap_or(event)),
    missing: "found no `message-end` with `usage` among the events",
};

/// The content of the event that ends an answer.
fn last(event: &[u8]) -> Option<&[u8]> {
    let kind = member_text(event, "type").or_else(|| member_text(event, "event_type"))?;
    match &*kind {
        "message-end" => member(event, "delta"),
        "stream-end" => member(event, "response"),
        _ => None,
    }
}

fn usage_of(body: &[u8]) -> Option<&[u8]> {
    present(body, "usage").or_else(|| present(body, "meta"))
}

fn usage(fields: &Fields) -> Result<UsageReport, String> {
    let billed = object(fields, "billed_units").map(billed_units).transpose()?.flatten();
    let Some(tokens) = object(fields, "tokens") else {
        // Old answers have only the billed units.
        let billed = billed.ok_or_else(|| format!("usage has no `tokens`, its keys are {}", keys(fields)))?;
        let mut recorded = RecordedUsage { billed_units: Some(billed), ..RecordedUsage::default() };
        (recorded.usage.input_tokens, recorded.usage.output_tokens) = (billed.input_tokens, billed.output_tokens);
        return Ok(recorded.into());
    };
    let prompt = PromptCounts {
        name: "tokens.input_tokens",
        tokens: required(tokens, "input_tokens")?,
        read: count_or_zero(fields, "cached_tokens")?,
        written: 0,
    };
    let recorded = RecordedUsage {
        usage: prompt.additive(count_or_zero(tokens, "output_tokens")?)?,
        reasoning_tokens: count_or_zero(tokens, "reasoning_tokens")?,
        billed_units: billed,
        ..RecordedUsage::default()
    };
    Ok(recorded.into())
}

fn billed_units(fields: &Fields) -> Result<Option<BilledUnits>, String> {
    let Some(input_tokens) = count(fields, "input_tokens")? else { return Ok(None) };
    let output_tokens = count_or_zero(fields, "output_tokens")?;
    Ok(Some(BilledUnits { input_tokens, output_tokens }))
}
