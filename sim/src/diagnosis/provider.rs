//! What providers that diagnose their own caches call each cause.
//!
//! Sources: Anthropic, cache-diagnostics page (platform.claude.com, 2026-09); `OpenAI`, "Prompt cache diagnostics"
//! (developers.openai.com, prompt-caching guide, 2026-09): they stand on answers of the Responses API, from GPT-5.6 on.
//! No other provider is known to say why its cache missed.

use super::cause::Cause;
use crate::wire::model::{Platform, Resolved, Vendor};
use crate::wire::{Maker, Request};

/// A provider that says of an answer why its prompt was not read from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// The Messages API of Anthropic itself: Bedrock, Vertex and routers have no such field.
    Anthropic,
    /// `OpenAI`. Requests by chat completions get no diagnosis; its words are those that the same prompt gets as a response.
    OpenAi,
}

impl Provider {
    /// All.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Whose diagnosis it is, for people.
    pub const fn maker(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
        }
    }

    /// What people call its diagnosis.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic's cache diagnosis",
            Self::OpenAi => "OpenAI's cache diagnosis (Responses API)",
        }
    }

    /// Who diagnoses the cache of `request`; `None` where nobody does. Whose rules it follows decides, and for Anthropic the
    /// model: not every host of its models has such a field.
    pub fn of(request: &Request) -> Option<Self> {
        match request.maker {
            Maker::OpenAi => Some(Self::OpenAi),
            Maker::Other => None,
            Maker::Anthropic => Self::of_model(request.resolved).filter(|provider| *provider == Self::Anthropic),
        }
    }

    /// The same where the model is all that is known. A model that no table names is taken for one of Anthropic's, as
    /// clients with a Messages endpoint of their own name theirs.
    pub fn of_model(resolved: Option<Resolved>) -> Option<Self> {
        let Some(resolved) = resolved else { return Some(Self::Anthropic) };
        match (resolved.id.row().vendor, resolved.platform) {
            (Vendor::Anthropic, Platform::Maker) => Some(Self::Anthropic),
            (Vendor::OpenAi, Platform::Maker) => Some(Self::OpenAi),
            _ => None,
        }
    }

    /// Its word for `cause`; `None` where it has none. `path` tells which parameter changed. Anthropic counts parameters of
    /// the request as `unavailable` (cache-diagnostics page, 2026-09). `comparison_response_not_found` of `OpenAI` is a type of
    /// its own beside the reasons: there is no record of the response in this organisation any more ("Prompt cache
    /// diagnostics", 2026-09).
    pub fn reason(self, cause: Cause, path: &str) -> Option<&'static str> {
        match (self, cause) {
            (Self::Anthropic, _) => cause.provider_reason(),
            (Self::OpenAi, Cause::LevelParameter) => setting(path),
            (Self::OpenAi, _) => cause.row().openai,
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
    /// Anthropic's word for this cause; `None` where it has none.
    pub const fn provider_reason(self) -> Option<&'static str> {
        self.row().anthropic
    }
}

/// Settings by their paths in a body of the Responses API and of chat completions, with `OpenAI`'s words. Of
/// `parallel_tool_calls` and `context_management`, which are part of the identity too, the page says nothing.
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
