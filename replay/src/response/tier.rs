//! Words for service tiers beyond those of [`ServiceTier::of_word`].
//!
//! Sources: Gemini API reference, `UsageMetadata.serviceTier`, and Vertex AI, `trafficType` (2026-10); Groq, `service_tier`
//! (`on_demand`, `flex`; 2026-10).

use forkcast_sim::pricing::ServiceTier;

/// The tier in an answer.
pub(super) fn served(word: &str) -> Option<ServiceTier> {
    let word = word.to_ascii_lowercase();
    let word = word.strip_prefix("service_tier_").unwrap_or(&word);
    match word {
        "on_demand" => Some(ServiceTier::Standard),
        "on_demand_flex" => Some(ServiceTier::Flex),
        "on_demand_priority" => Some(ServiceTier::Priority),
        _ => ServiceTier::of_word(word),
    }
}

/// The tier in a request. For `auto`, `standard_only` and unknown words the account decides: standard is assumed.
pub(super) fn asked_for(word: &str) -> ServiceTier {
    served(word).unwrap_or_default()
}

/// Whether a word that [`served`] does not know is noted: words for an undecided tier are not.
pub(super) fn is_foreign(word: &str) -> bool {
    served(word).is_none() && !matches!(word.to_ascii_lowercase().as_str(), "" | "auto" | "traffic_type_unspecified")
}
