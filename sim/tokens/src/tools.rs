//! Tokens of tools besides their definitions: the instructions that the provider adds if there are tools, and the
//! definitions of its own tools, which are not part of the request.
//!
//! Source: pricing page, tool use (PC-A archive, 2026-08). Tables in tokens.

use forkcast_sim::wire::ToolUse;
use forkcast_sim::wire::model::{Model, ModelId, Tokenizer};

/// Instructions for tools: model, tokens with free choice, tokens with a forced call.
const INSTRUCTIONS: [(ModelId, u64, u64); 14] = [
    (ModelId::Haiku35, 264, 355),
    (ModelId::Haiku45, 496, 588),
    (ModelId::Sonnet4, 313, 315),
    (ModelId::Sonnet45, 496, 588),
    (ModelId::Sonnet46, 497, 589),
    (ModelId::Sonnet5, 354, 474),
    (ModelId::Opus4, 313, 315),
    (ModelId::Opus41, 313, 315),
    (ModelId::Opus45, 496, 588),
    (ModelId::Opus46, 497, 589),
    (ModelId::Opus47, 675, 804),
    (ModelId::Opus48, 290, 410),
    (ModelId::Opus5, 286, 406),
    // Third-party data, where forced tool use is an error; the row of Opus 5 is used instead.
    (ModelId::Opus55, 286, 406),
];

/// The instructions of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Their tokens.
    pub tokens: u64,
    /// The model whose row was used: another model if the table has no row for this one.
    pub row: ModelId,
}

/// The instructions for `model`. A model without a row uses the nearest row of its family, otherwise of its tokenizer;
/// an unknown model uses the newest row.
pub fn instructions(model: Option<ModelId>, tools: ToolUse) -> Option<Instructions> {
    let model = model.unwrap_or(ModelId::Opus55);
    let (row, free, forced) = *INSTRUCTIONS.iter().min_by_key(|(row, ..)| distance(*row, model))?;
    let tokens = match tools {
        ToolUse::Absent => return None,
        ToolUse::Free => free,
        ToolUse::Forced => forced,
    };
    Some(Instructions { tokens, row })
}

/// Distance of two models: by tokenizer, then family, then version.
fn distance(left: ModelId, right: ModelId) -> (bool, bool, u32) {
    let left = left.row();
    let right = right.row();
    let version = |row: &Model| row.claude.map_or(0, |(_, (major, minor))| u32::from(major) * 100 + u32::from(minor));
    let family = |row: &Model| row.claude.map(|(family, _)| family);
    (left.tokenizer != right.tokenizer, family(left) != family(right), version(left).abs_diff(version(right)))
}

/// Tokens of the provider's own client-side tools, by the prefix of their `type`. `None` for others.
pub fn built_in_tokens(kind: &str, tokenizer: Tokenizer) -> Option<u64> {
    let newer = tokenizer != Tokenizer::Claude;
    match kind {
        _ if kind.starts_with("bash_") => Some(if newer { 325 } else { 244 }),
        _ if kind.starts_with("text_editor_") => Some(700),
        _ if kind.starts_with("computer_") => Some(4_520),
        // Undocumented: the remainder in two recorded requests of 2026 (Sonnet 4.5, Opus 4.8).
        _ if kind.starts_with("tool_search_tool_") => Some(if newer { 350 } else { 170 }),
        _ => None,
    }
}
