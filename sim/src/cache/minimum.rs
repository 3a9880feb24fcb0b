//! The shortest prefix that is cached, by model.

use crate::wire::model::ModelId;

/// Minimum of a model that is in no table: the one of most models since 2024.
const MINIMUM_TOKENS_DEFAULT: u64 = 1_024;

/// Minimum cacheable prefix in tokens by model id. Source: platform.claude.com prompt-caching page (PC-N, copy between
/// 2026-09-22 and 2026-09-28), Sonnet 5.5 and Haiku 5.5 from their overview pages (2026-10); Sonnet 3.5 and 3.7 from
/// the pages of 2025. That of Fable 5.2 and Mythos 5.2 is their family's, for no page gives it
/// (`providers-2026-11.md` B). Not monotonic in age. AWS lists 4,096 for Sonnet 4.5, but recorded Bedrock exchanges were cached
/// at 1,322 tokens, so one table serves all platforms.
const MINIMUM_TOKENS: [(&str, u64); 25] = [
    ("claude-fable-5-2", 512),
    ("claude-mythos-5-2", 512),
    ("claude-fable-5-1", 512),
    ("claude-mythos-5-1", 512),
    ("claude-opus-5-5", 512),
    ("claude-opus-5", 512),
    ("claude-fable-5", 512),
    ("claude-mythos-5", 512),
    ("claude-sonnet-5-5", 512),
    ("claude-haiku-5-5", 512),
    ("claude-opus-4-8", 1_024),
    ("claude-sonnet-5", 1_024),
    ("claude-sonnet-4-6", 1_024),
    ("claude-sonnet-4-5", 1_024),
    ("claude-opus-4-1", 1_024),
    ("claude-opus-4", 1_024),
    ("claude-sonnet-4", 1_024),
    ("claude-3-7-sonnet", 1_024),
    ("claude-3-5-sonnet", 1_024),
    ("claude-opus-4-7", 2_048),
    ("claude-mythos-preview", 2_048),
    ("claude-3-5-haiku", 2_048),
    ("claude-opus-4-6", 4_096),
    ("claude-opus-4-5", 4_096),
    ("claude-haiku-4-5", 4_096),
];

/// The shortest prefix of `model` that is cached, in tokens.
pub fn minimum_tokens(model: Option<ModelId>) -> u64 {
    let row = model.and_then(|model| MINIMUM_TOKENS.iter().find(|(id, _)| *id == model.row().id));
    row.map_or(MINIMUM_TOKENS_DEFAULT, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::MINIMUM_TOKENS;
    use crate::wire::model;

    #[test]
    fn every_row_names_a_model_of_the_table() {
        for (id, _) in MINIMUM_TOKENS {
            assert_eq!(model::resolve(id).map(|found| found.id.row().id), Some(id));
        }
    }
}
