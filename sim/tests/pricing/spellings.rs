//! Spellings of models other than Claude.

use Platform::{Copilot, Foundry, Maker, OpenRouter, Vertex};
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::wire::model::{MODELS, Platform, Vendor, resolve};
use proptest::prelude::*;

/// Spelling, canonical id, platform, bound to a geography. The first part occurs in recordings, the rest in pages and
/// packages of providers and routers.
const KNOWN: [(&str, &str, Platform, bool); 83] = [
    ("gpt-4o-2024-08-06", "gpt-4o", Maker, false),
    ("gpt-4o", "gpt-4o", Maker, false),
    ("gpt-4o-mini-2024-07-18", "gpt-4o-mini", Maker, false),
    ("gpt-4.1-2025-04-14", "gpt-4.1", Maker, false),
    ("gpt-4.1-mini", "gpt-4.1-mini", Maker, false),
    ("gpt-5-2025-08-07", "gpt-5", Maker, false),
    ("gpt-5-nano-2025-08-07", "gpt-5-nano", Maker, false),
    ("openai/gpt-5-mini", "gpt-5-mini", Maker, false),
    ("openai/gpt-5-mini-2025-08-07", "gpt-5-mini", Maker, false),
    ("gpt-5.2-2025-12-11", "gpt-5.2", Maker, false),
    ("gpt-5.4", "gpt-5.4", Maker, false),
    ("gpt-5.4-mini", "gpt-5.4-mini", Maker, false),
    ("gpt-5.6", "gpt-5.6-sol", Maker, false),
    ("gpt-5.6-sol", "gpt-5.6-sol", Maker, false),
    ("openai/gpt-5.6-sol", "gpt-5.6-sol", Maker, false),
    ("grok-4.3", "grok-4.3", Maker, false),
    ("grok-4-1-fast-non-reasoning", "grok-4-1-fast", Maker, false),
    ("x-ai/grok-4", "grok-4", Maker, false),
    ("deepseek-v4-flash", "deepseek-v4-flash", Maker, false),
    ("deepseek-chat", "deepseek-chat", Maker, false),
    ("deepseek-reasoner", "deepseek-reasoner", Maker, false),
    ("gemini-2.5-flash", "gemini-2.5-flash", Maker, false),
    ("google/gemini-2.5-flash", "gemini-2.5-flash", Maker, false),
    ("models/gemini-2.5-flash", "gemini-2.5-flash", Maker, false),
    ("models/gemini-2.5-flash:generateContent", "gemini-2.5-flash", Maker, false),
    ("gemini-3-flash-preview", "gemini-3-flash", Maker, false),
    (
        "projects/<GOOGLE_CLOUD_PROJECT>/locations/<GOOGLE_CLOUD_LOCATION>/publishers/google/models/gemini-2.5-flash",
        "gemini-2.5-flash",
        Vertex,
        true,
    ),
    ("command-a-03-2025", "command-a-03-2025", Maker, false),
    ("command-r-08-2024", "command-r-08-2024", Maker, false),
    ("GPT-5-Nano", "gpt-5-nano", Maker, false),
    (" gpt-5 ", "gpt-5", Maker, false),
    ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13", Maker, false),
    ("gpt-4-turbo-2024-04-09", "gpt-4-turbo", Maker, false),
    ("gpt-3.5-turbo-0125", "gpt-3.5-turbo", Maker, false),
    ("gpt-5-6-sol", "gpt-5.6-sol", Maker, false),
    ("gpt-5-6-terra-2026-07-09", "gpt-5.6-terra", Maker, false),
    ("gpt-6.1-sol", "gpt-6.1-sol", Maker, false),
    ("gpt-6-luna", "gpt-6-luna", Maker, false),
    ("gpt-6.2-sol", "gpt-6.2-sol", Maker, false),
    ("openai/gpt-6.2-sol", "gpt-6.2-sol", Maker, false),
    ("openai:gpt@6.2-sol", "gpt-6.2-sol", Maker, false),
    ("openai-gpt-6-sol", "gpt-6-sol", Maker, false),
    ("gpt-6.2-astra", "gpt-6.2-astra", Maker, false),
    ("gemini-4-argon", "gemini-4-argon", Maker, false),
    ("google/gemini-4-carbon", "gemini-4-carbon", Maker, false),
    ("deepseek-v4-pro-0813", "deepseek-v4-pro", Maker, false),
    ("deepseek-v4-flash-0731", "deepseek-v4-flash", Maker, false),
    ("openai:gpt-6-astra", "gpt-6-astra", Maker, false),
    ("openai-responses:gpt-5.6-luna", "gpt-5.6-luna", Maker, false),
    ("azure/gpt-4.1", "gpt-4.1", Foundry, false),
    ("azure/gpt-4o-2024-11-20", "gpt-4o", Foundry, false),
    ("azure:gpt-5", "gpt-5", Foundry, false),
    ("openrouter/openai/gpt-5.5", "gpt-5.5", OpenRouter, false),
    ("openrouter:google/gemini-3.1-pro-preview", "gemini-3.1-pro", OpenRouter, false),
    ("github_copilot/gpt-5.5", "gpt-5.5", Copilot, false),
    ("o3-2025-04-16", "o3", Maker, false),
    ("o4-mini", "o4-mini", Maker, false),
    ("o1-2024-12-17", "o1", Maker, false),
    ("gemini-2.5-pro-preview-06-05", "gemini-2.5-pro", Maker, false),
    ("gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite", Maker, false),
    ("gemini/gemini-3.8-flash", "gemini-3.8-flash", Maker, false),
    ("google-gla:gemini-3.5-flash-lite", "gemini-3.5-flash-lite", Maker, false),
    ("google-vertex:gemini-3-pro-preview", "gemini-3-pro", Vertex, false),
    ("vertex_ai/gemini-2.5-pro", "gemini-2.5-pro", Vertex, false),
    ("gemini-2.5-flash-latest", "gemini-2.5-flash", Maker, false),
    (
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.6-flash:streamGenerateContent",
        "gemini-3.6-flash",
        Maker,
        false,
    ),
    (
        "projects/p/locations/global/publishers/google/models/gemini-3.1-pro-preview:generateContent",
        "gemini-3.1-pro",
        Vertex,
        false,
    ),
    ("deepseek/deepseek-v4-pro", "deepseek-v4-pro", Maker, false),
    ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-v4-pro", Maker, false),
    ("deepseek-flash", "deepseek-flash", Maker, false),
    ("moonshotai/kimi-k2.6", "kimi-k2.6", Maker, false),
    ("moonshot/kimi-k3", "kimi-k3", Maker, false),
    ("kimi-k3.1-pro-highspeed", "kimi-k3.1-pro-highspeed", Maker, false),
    ("xai/grok-4.5-latest", "grok-4.5", Maker, false),
    ("x-ai/grok-4.1-fast", "grok-4-1-fast", Maker, false),
    ("grok-4-0709", "grok-4", Maker, false),
    ("grok-4.3-20260512", "grok-4.3", Maker, false),
    ("z-ai/glm-5.2", "glm-5.2", Maker, false),
    ("zai:GLM-5.3", "glm-5.3", Maker, false),
    ("mistral/mistral-large-2512", "mistral-large-2512", Maker, false),
    ("mistralai/devstral-2512", "devstral-2512", Maker, false),
    ("cohere/command-r7b-12-2024", "command-r7b-12-2024", Maker, false),
    ("command-r-plus-08-2024", "command-r-plus-08-2024", Maker, false),
];

#[test]
fn spellings_lead_to_their_model() {
    for (spelling, id, platform, regional) in KNOWN {
        let found = resolve(spelling).map(|found| (found.id.row().id, found.platform, found.regional));
        assert_eq!(found, Some((id, platform, regional)), "{spelling}");
    }
}

/// Names that begin or end like a model but are another model, a kind of product, a free offer, or nothing.
const UNKNOWN: [&str; 58] = [
    "gpt-5-codex",
    "gpt-5-chat-latest",
    "gpt-5.1-codex-mini",
    "gpt-5.2-chat",
    "gpt-5.3-codex-spark",
    "gpt-5.3",
    "gpt-5-image",
    "gpt-5-search-api",
    "gpt-5.6-cyber",
    "gpt-6",
    "gpt-6-terra",
    "gpt-7-sol",
    "gpt-4o-audio-preview",
    "gpt-4o-mini-search-preview",
    "gpt-4o-search-preview-2025-03-11",
    "gpt-4o-realtime-preview",
    "gpt-4o:extended",
    "gpt-4-32k",
    "gpt-4-0125-preview",
    "gpt-3.5-turbo-16k",
    "gpt-3.5-turbo-instruct",
    "gpt-4o.mini",
    "gpt-4o-2024-8-6",
    "gpt-4o-1924-08-06",
    "gpt-4o-2024-08-0x",
    "gpt-4o-2024-08-06-latest",
    "ft:gpt-4o-2024-08-06:acme::abc",
    "gpt-oss-120b",
    "chatgpt-4o-latest",
    "o3-deep-research",
    "o3-mini-high",
    "openai/gemini-2.5-flash",
    "google/gpt-5",
    "anthropic/gpt-5",
    "models/gpt-5",
    "publishers/google/models/gpt-5",
    "gemini-2.5-flash-image",
    "gemini-2.5-flash-preview-05-20",
    "gemini-2.5-flash-preview-tts",
    "gemini-2.5-pro-preview-tts",
    "gemini-3-pro-image-preview",
    "gemini-3.1-flash-live-preview",
    "gemini-2.0-flash-exp:free",
    "google/gemini-2.0-flash-exp:free",
    "gemini-flash-latest",
    "models/gemini-2.5-flash:embedContent",
    "tunedmodels/gemini-2.5-flash",
    "grok-4.20-multi-agent",
    "grok-code-fast-1",
    "grok-latest",
    "deepseek-v3",
    "deepseek-v3.1-terminus",
    "kimi-k2",
    "glm-5",
    "mistral-small-latest",
    "mistral-large-latest",
    "command-a-reasoning-08-2025",
    "qwen3",
];

#[test]
fn names_that_only_resemble_a_model_are_unknown() {
    for spelling in UNKNOWN {
        assert_eq!(resolve(spelling), None, "{spelling}");
    }
}

#[test]
fn service_tiers_in_answers_are_recognised() {
    for tier in ServiceTier::ALL {
        assert_eq!(ServiceTier::of_word(tier.word()), Some(tier));
        assert_eq!(tier.to_string(), tier.word());
    }
    // OpenAI's changelog of 2026-07-30 makes the two words one.
    assert_eq!(ServiceTier::of_word("fast"), Some(ServiceTier::Priority));
    assert_eq!(ServiceTier::of_word("default"), Some(ServiceTier::Standard));
    assert_eq!(ServiceTier::of_word("FLEX"), Some(ServiceTier::Flex));
    assert_eq!(ServiceTier::of_word("auto"), None);
    assert_eq!(ServiceTier::of_word(""), None);
}

proptest! {
    #[test]
    fn a_longer_name_is_another_model(at in 0..MODELS.len(), tail in "[-.]?[a-z]{1,8}") {
        let row = &MODELS[at];
        let longer = format!("{}{tail}", row.id);
        let known = tail == "-latest" || MODELS.iter().any(|row| row.id == longer || row.aliases.contains(&longer.as_str()));
        prop_assume!(row.vendor != Vendor::Anthropic && !known);
        prop_assert_eq!(resolve(&longer), None);
    }

    #[test]
    fn any_text_around_a_name_resolves_or_not(before in "[a-z./:@% -]{0,12}", at in 0..MODELS.len(), after in "\\PC{0,12}") {
        let _ = resolve(&format!("{before}{}{after}", MODELS[at].id));
    }

    #[test]
    fn a_snapshot_is_its_model(at in 0..MODELS.len(), month in 1..13, day in 1..29, upper in any::<bool>()) {
        let row = &MODELS[at];
        let dated = format!("{}-2027-{month:02}-{day:02}", row.id);
        let spelling = if upper { dated.to_uppercase() } else { dated };
        prop_assume!(row.vendor != Vendor::Anthropic);
        prop_assert_eq!(resolve(&spelling).map(|found| found.id), Some(row.model));
    }
}
