//! How providers that diagnose their own caches name each cause.
//!
//! Sources: Anthropic, cache-diagnostics page (platform.claude.com, 2026-09); `OpenAI`, "Prompt cache diagnostics"
//! (developers.openai.com, prompt-caching guide, 2026-09): part of responses of the Responses API since GPT-5.6. No
//! other provider is known to explain its cache misses.

use super::cause::Cause;
use crate::wire::model::{Platform, Resolved, Vendor};
use crate::wire::{Maker, Request};

/// Those whose responses say why a prompt was not read from the cache.
pub const DIAGNOSING: [Maker; 2] = [Maker::Anthropic, Maker::OpenAi];

impl Maker {
    /// The name of its cache diagnosis, for people; `None` if it gives none. `OpenAI` diagnoses no chat completions; they
    /// are given the words that the same prompt gets from the Responses API.
    pub const fn diagnosis(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("Anthropic's cache diagnosis"),
            Self::OpenAi => Some("OpenAI's cache diagnosis (Responses API)"),
            Self::Other => None,
        }
    }

    /// The service that diagnoses the cache of `request`, if any. The request's cache rules decide, and for Anthropic
    /// also the model: Bedrock, Vertex and routers have no such field.
    pub fn diagnosing(request: &Request) -> Option<Self> {
        match request.maker {
            Self::OpenAi => Some(Self::OpenAi),
            Self::Other => None,
            Self::Anthropic => Self::diagnosing_model(request.resolved).filter(|maker| *maker == Self::Anthropic),
        }
    }

    /// The same if only the model is known. An unknown model counts as one of Anthropic's, because clients with their
    /// own Messages endpoint use their own model names.
    pub fn diagnosing_model(resolved: Option<Resolved>) -> Option<Self> {
        let Some(resolved) = resolved else { return Some(Self::Anthropic) };
        match (resolved.id.row().vendor, resolved.platform) {
            (Vendor::Anthropic, Platform::Maker) => Some(Self::Anthropic),
            (Vendor::OpenAi, Platform::Maker) => Some(Self::OpenAi),
            _ => None,
        }
    }

    /// Its word for `cause`; `None` without one. `path` is the path of the changed parameter. Anthropic reports changed
    /// parameters of the request as `unavailable` (cache-diagnostics page, 2026-09). OpenAI's
    /// `comparison_response_not_found` is a separate type besides the reasons: this organisation no longer has a record
    /// of the response ("Prompt cache diagnostics", 2026-09).
    pub fn reason(self, cause: Cause, path: &str) -> Option<&'static str> {
        match (self, cause) {
            (Self::Anthropic, _) => cause.provider_reason(),
            (Self::OpenAi, Cause::LevelParameter) => setting(path),
            (Self::OpenAi, _) => cause.row().openai,
            (Self::Other, _) => None,
        }
    }

    /// All its words for `cause`: `OpenAI` has one for each parameter.
    pub fn reasons(self, cause: Cause) -> Vec<&'static str> {
        match (self, cause) {
            (Self::OpenAi, Cause::LevelParameter) => SETTINGS.iter().map(|(_, word)| *word).collect(),
            _ => self.reason(cause, "").into_iter().collect(),
        }
    }
}

impl Cause {
    /// Anthropic's word for this cause; `None` without one.
    pub const fn provider_reason(self) -> Option<&'static str> {
        self.row().anthropic
    }
}

/// Paths of settings in bodies of the Responses API and of chat completions, with OpenAI's words. The page does not
/// mention `parallel_tool_calls` and `context_management`, which are part of the identity too.
const SETTINGS: [(&[&str], &str); 5] = [
    (&["prompt_cache_key"], "prompt_cache_key_changed"),
    (&["service_tier"], "service_tier_changed"),
    (&["text.format", "response_format"], "text_format_changed"),
    (&["reasoning.effort", "reasoning_effort"], "reasoning_effort_changed"),
    (&["text.verbosity", "verbosity"], "verbosity_changed"),
];

fn setting(path: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(paths, _)| paths.contains(&path)).map(|(_, word)| *word)
}
