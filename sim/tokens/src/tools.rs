//! What tools cost beside their definitions: the instructions that a provider adds when there are any, and the
//! definitions of its own tools, which stand in no request.
//!
//! Source: pricing page, tool use (PC-A archive, 2026-08). Tables in tokens.

use forkcast_sim::wire::ToolUse;
use forkcast_sim::wire::model::{Model, ModelId, Tokenizer};

/// Instructions for tools: first the model, then tokens where it may choose and where it must call one.
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
    // Third party, and forced tool use is an error there: the row of Opus 5 stands in for it.
    (ModelId::Opus55, 286, 406),
];

/// The instructions of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Their tokens.
    pub tokens: u64,
    /// The model whose row was taken: another where the table has none for the model itself.
    pub row: ModelId,
}

/// The instructions that `model` gets. A model without a row takes the nearest of its family, else the nearest of its
/// tokenizer; a model that is not known, the newest row.
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

/// How far apart two models are: another tokenizer, another family, then versions.
fn distance(left: ModelId, right: ModelId) -> (bool, bool, u32) {
    let left = left.row();
    let right = right.row();
    let version = |row: &Model| row.claude.map_or(0, |(_, (major, minor))| u32::from(major) * 100 + u32::from(minor));
    let family = |row: &Model| row.claude.map(|(family, _)| family);
    (left.tokenizer != right.tokenizer, family(left) != family(right), version(left).abs_diff(version(right)))
}

/// Tokens of the provider's own tools that run on the client, by the beginning of their `type`. `None` for all others.
pub fn built_in_tokens(kind: &str, tokenizer: Tokenizer) -> Option<u64> {
    let newer = tokenizer != Tokenizer::Claude;
    match kind {
        _ if kind.starts_with("bash_") => Some(if newer { 325 } else { 244 }),
        _ if kind.starts_with("text_editor_") => Some(700),
        _ if kind.starts_with("computer_") => Some(4_520),
        // Not documented: what two recorded requests of 2026 had beyond all else (Sonnet 4.5, Opus 4.8).
        _ if kind.starts_with("tool_search_tool_") => Some(if newer { 350 } else { 170 }),
        _ => None,
    }
}
