//! Spellings of Claude models, with their parts in any order.

use super::{Family, MODELS, Platform, Resolved};

/// Reads a plain spelling (lower case, no escapes) from its last `claude-` on.
pub(super) fn resolve(text: &str) -> Option<Resolved> {
    let (before, name) = text.split_at(text.rfind("claude-")?);
    let slug = Slug::parse(name)?;
    let (platform, regional) = seller(before, &slug)?;
    let found = MODELS.iter().find(|row| row.claude == Some((slug.family, slug.version)))?;
    Some(Resolved { id: found.model, platform, regional })
}

/// Prefixes that name a platform. Those with a colon are pydantic-ai's, those with a slash LiteLLM's.
const SELLERS: [(&str, Platform); 8] = [
    ("anthropic:", Platform::Maker),
    ("openrouter/anthropic/", Platform::OpenRouter),
    ("openrouter:anthropic/", Platform::OpenRouter),
    ("vertex_ai/", Platform::Vertex),
    ("google-vertex:", Platform::Vertex),
    ("azure_ai/", Platform::Foundry),
    ("github_copilot/", Platform::Copilot),
    ("copilot/", Platform::Copilot),
];

/// Platform and geography from the text before the name.
fn seller(before: &str, slug: &Slug) -> Option<(Platform, bool)> {
    if let Some(place) = before.strip_suffix("anthropic.") {
        let geography = place.rsplit_once(['/', ':']).map_or(place, |(_, geography)| geography);
        let known = geography.bytes().all(|byte| byte.is_ascii_lowercase() || b"-.".contains(&byte));
        return known.then_some((Platform::Bedrock, geography != "global."));
    }
    if before.ends_with("publishers/anthropic/models/") {
        let regional = before.contains("locations/") && !before.contains("locations/global/");
        return Some((Platform::Vertex, regional));
    }
    let platform = match before {
        "" | "anthropic/" if slug.at_sign => Platform::Vertex,
        "" if slug.dotted => Platform::Copilot,
        // Routers write this prefix before ids of the Claude API, OpenRouter before its own slugs; the latter have dots
        // or a bare major version.
        "anthropic/" if slug.dotted || slug.bare_major => Platform::OpenRouter,
        "" | "anthropic/" => Platform::Maker,
        _ => SELLERS.iter().find(|(prefix, _)| *prefix == before)?.1,
    };
    Some((platform, false))
}

/// The part of a spelling from `claude-` on.
struct Slug {
    family: Family,
    version: (u8, u8),
    dotted: bool,
    at_sign: bool,
    bare_major: bool,
}

/// Suffixes of the id in Bedrock's URLs.
const BEDROCK_ACTIONS: [&str; 4] = ["/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream"];

impl Slug {
    fn parse(name: &str) -> Option<Self> {
        let name = name.strip_prefix("claude-")?;
        let name = BEDROCK_ACTIONS.iter().find_map(|action| name.strip_suffix(action)).unwrap_or(name);
        let name = without_variant(name.strip_suffix("[1m]").unwrap_or(name))?;
        let dashed = name.replace('@', "-");
        let parts: Vec<&str> = dashed.split('-').collect();
        let (at, family) = parts.iter().enumerate().find_map(|(at, part)| Some((at, family(part)?)))?;
        let front = parts.get(..at)?;
        let back = parts.get(at + 1..)?;
        // `3-5-haiku` and `4.6-sonnet` have the version before the family, later ids after it.
        let digits = back.iter().take_while(|part| is_version(part)).count();
        let (numbers, suffixes) = if front.is_empty() { back.split_at(digits) } else { (front, back) };
        suffixes.iter().all(|part| is_suffix(part)).then_some(())?;
        Some(Self {
            family,
            version: version(numbers)?,
            dotted: numbers.iter().any(|part| part.contains('.')),
            at_sign: name.contains('@'),
            bare_major: numbers.len() == 1 && suffixes.is_empty(),
        })
    }
}

/// Drops what follows a colon (`:0` of Bedrock, `:thinking` of OpenRouter, `:rawPredict` of Vertex).
fn without_variant(name: &str) -> Option<&str> {
    let Some((name, variant)) = name.split_once(':') else { return Some(name) };
    let is_word = !variant.is_empty() && variant.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b':');
    is_word.then_some(name)
}

fn family(part: &str) -> Option<Family> {
    match part {
        "haiku" => Some(Family::Haiku),
        "sonnet" => Some(Family::Sonnet),
        "opus" => Some(Family::Opus),
        "mythos" => Some(Family::Mythos),
        "fable" => Some(Family::Fable),
        _ => None,
    }
}

/// A part of a version; a snapshot's date is longer.
fn is_version(part: &str) -> bool {
    part == "preview" || (part.starts_with(|first: char| first.is_ascii_digit()) && part.len() < 8)
}

fn version(numbers: &[&str]) -> Option<(u8, u8)> {
    let (major, minor) = match numbers {
        ["preview"] => return Some((0, 0)),
        [both] => both.split_once('.').unwrap_or((both, "0")),
        [major, minor] => (*major, *minor),
        _ => return None,
    };
    Some((number(major).filter(|major| *major > 0)?, number(minor)?))
}

fn number(text: &str) -> Option<u8> {
    let is_short = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

/// Suffixes after the version: the date of a snapshot, an alias, a revision as in `-v1`, or the `-thinking` of gateways
/// that have a name for each setting (`providers-2026-11.md` B).
fn is_suffix(part: &str) -> bool {
    let is_date = part.len() == 8 && part.starts_with("20") && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_revision = part.strip_prefix('v').is_some_and(|revision| number(revision).is_some());
    is_date || is_revision || matches!(part, "latest" | "default" | "thinking")
}
