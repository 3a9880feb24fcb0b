//! Usage of Ollama's own API. Source: Ollama `docs/api.md` (2026-10): `prompt_eval_count` and `eval_count` in the last object.
//! Older versions omitted the first one if their cache had the prompt: then its size is unknown.

use super::chunks::Grammar;
use super::tokens::{Fields, count_or_zero, required};
use super::{Answer, UsageReport};
use crate::exchange::RecordedUsage;
use crate::formats::json::member;

/// Reads an answer, or the last object of a stream.
pub(super) fn read_json(body: &[u8]) -> Answer {
    Answer::of(body, usage).named_by(body, "model")
}

/// The lines of a stream.
pub(super) const STREAM: Grammar = Grammar {
    carries: is_done,
    ends: is_done,
    read: read_json,
    missing: "found no object with `\"done\": true` among those",
};

fn is_done(line: &[u8]) -> bool {
    member(line, "done") == Some(b"true")
}

fn usage(fields: &Fields) -> Result<UsageReport, String> {
    let mut recorded = RecordedUsage::default();
    recorded.usage.input_tokens = required(fields, "prompt_eval_count")?;
    recorded.usage.output_tokens = count_or_zero(fields, "eval_count")?;
    Ok(recorded.into())
}
