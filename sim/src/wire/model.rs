//! The model table: from any spelling to a model.
//!
//! Minimum prefixes stand in `cache` and prices in `pricing`; both are keyed by [`ModelId`].

use std::fmt;

/// One line of names, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Small and cheap.
    Haiku,
    /// The middle.
    Sonnet,
    /// Large.
    Opus,
    /// Largest, limited access.
    Mythos,
    /// Largest, general access.
    Fable,
}

/// Generation of the tokenizer: the same text makes 1.0 to 1.35 times the tokens in the newer one.
///
/// Source: models overview pages (PC-A archive, 2026-08-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tokenizer {
    /// Up to Opus 4.6, Sonnet 4.6 and Haiku 4.5.
    Claude,
    /// Opus 4.7 and later, Mythos, Fable, Sonnet 5 and later, Haiku 5.5.
    Claude47,
}

/// What is known of a model beside its cache rules and its prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The row's own key.
    pub model: ModelId,
    /// Canonical id: the undated spelling of the Claude API.
    pub id: &'static str,
    /// Name for people, without the maker's.
    pub name: &'static str,
    /// The line it belongs to.
    pub family: Family,
    /// Major and minor version; (0, 0) for a preview that has none.
    pub version: (u8, u8),
    /// Largest prompt that needs no beta switch, in tokens.
    pub window_tokens: u64,
    /// How text becomes tokens.
    pub tokenizer: Tokenizer,
    /// Whether thinking of earlier turns stays in the prompt at a user turn that is no tool result. Where it does not,
    /// the prefix changes there. Source: PC-N, table of invalidations (2026-09).
    pub keeps_thinking: bool,
    /// First day on sale (year, month, day), where a source gives one.
    pub first_date: Option<(i32, u8, u8)>,
}

/// Writes the key and the table from one list, so that a key without a row cannot be written.
macro_rules! models {
    ($($key:ident $id:literal $name:literal $family:ident $version:expr, $window:expr, $tokenizer:ident, $keeps:expr, $first:expr;)*) => {
        /// Key of a model; ordered as [`MODELS`], by family and version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ModelId {
            $(#[doc = $name] $key,)*
        }

        /// Every model that is known, by family and version.
        ///
        /// Windows and dates: price table of the fact sheet (PC-N, 2026-09; OV pages, 2026-10); the 200,000 of models
        /// before Opus 4 and the 1,000,000 of Mythos Preview are not in it. Sonnet 4 and 4.5 reach 1,000,000 in beta.
        pub const MODELS: &[Model] = &[$(Model {
            model: ModelId::$key,
            id: $id,
            name: $name,
            family: Family::$family,
            version: $version,
            window_tokens: $window,
            tokenizer: Tokenizer::$tokenizer,
            keeps_thinking: $keeps,
            first_date: $first,
        },)*];
    };
}

const K200: u64 = 200_000;
const M1: u64 = 1_000_000;

// key, id, name, family, version, window, tokenizer, keeps thinking, first date
models! {
    Haiku3 "claude-3-haiku" "Haiku 3" Haiku (3, 0), K200, Claude, false, None;
    Haiku35 "claude-3-5-haiku" "Haiku 3.5" Haiku (3, 5), K200, Claude, false, None;
    Haiku45 "claude-haiku-4-5" "Haiku 4.5" Haiku (4, 5), K200, Claude, false, None;
    Haiku55 "claude-haiku-5-5" "Haiku 5.5" Haiku (5, 5), M1, Claude47, true, Some((2026, 10, 7));
    Sonnet35 "claude-3-5-sonnet" "Sonnet 3.5" Sonnet (3, 5), K200, Claude, false, None;
    Sonnet37 "claude-3-7-sonnet" "Sonnet 3.7" Sonnet (3, 7), K200, Claude, false, None;
    Sonnet4 "claude-sonnet-4" "Sonnet 4" Sonnet (4, 0), K200, Claude, false, None;
    Sonnet45 "claude-sonnet-4-5" "Sonnet 4.5" Sonnet (4, 5), K200, Claude, false, None;
    Sonnet46 "claude-sonnet-4-6" "Sonnet 4.6" Sonnet (4, 6), M1, Claude, true, None;
    Sonnet5 "claude-sonnet-5" "Sonnet 5" Sonnet (5, 0), M1, Claude47, true, None;
    Sonnet55 "claude-sonnet-5-5" "Sonnet 5.5" Sonnet (5, 5), M1, Claude47, true, Some((2026, 9, 28));
    Opus3 "claude-3-opus" "Opus 3" Opus (3, 0), K200, Claude, false, None;
    Opus4 "claude-opus-4" "Opus 4" Opus (4, 0), K200, Claude, false, None;
    Opus41 "claude-opus-4-1" "Opus 4.1" Opus (4, 1), K200, Claude, false, None;
    Opus45 "claude-opus-4-5" "Opus 4.5" Opus (4, 5), K200, Claude, true, None;
    Opus46 "claude-opus-4-6" "Opus 4.6" Opus (4, 6), M1, Claude, true, None;
    Opus47 "claude-opus-4-7" "Opus 4.7" Opus (4, 7), M1, Claude47, true, None;
    Opus48 "claude-opus-4-8" "Opus 4.8" Opus (4, 8), M1, Claude47, true, Some((2026, 5, 28));
    Opus5 "claude-opus-5" "Opus 5" Opus (5, 0), M1, Claude47, true, Some((2026, 7, 24));
    Opus55 "claude-opus-5-5" "Opus 5.5" Opus (5, 5), M1, Claude47, true, Some((2026, 9, 22));
    MythosPreview "claude-mythos-preview" "Mythos Preview" Mythos (0, 0), M1, Claude47, true, None;
    Mythos5 "claude-mythos-5" "Mythos 5" Mythos (5, 0), M1, Claude47, true, None;
    Mythos51 "claude-mythos-5-1" "Mythos 5.1" Mythos (5, 1), M1, Claude47, true, None;
    Fable5 "claude-fable-5" "Fable 5" Fable (5, 0), M1, Claude47, true, Some((2026, 6, 9));
    Fable51 "claude-fable-5-1" "Fable 5.1" Fable (5, 1), M1, Claude47, true, None;
}

impl ModelId {
    /// The model's row.
    pub const fn row(self) -> &'static Model {
        // In bounds: keys and rows are written by one list.
        &MODELS[self as usize]
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().id)
    }
}

impl Model {
    /// Same as [`resolve`].
    pub fn resolve(spelling: &str) -> Option<Resolved> {
        resolve(spelling)
    }
}

/// Who runs the model, as far as its spelling tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// The maker's own API.
    Claude,
    /// AWS Bedrock.
    Bedrock,
    /// Google Cloud.
    Vertex,
    /// Microsoft Foundry; its ids are the Claude API's, so only a router's prefix tells.
    Foundry,
    /// OpenRouter.
    OpenRouter,
    /// GitHub Copilot: dotted versions without a vendor.
    Copilot,
}

/// What a spelling says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The model.
    pub id: ModelId,
    /// Who runs it.
    pub platform: Platform,
    /// Whether the spelling binds the request to a geography (any Bedrock id but `global.`, a Vertex location but
    /// `global`), which costs more. A Vertex id alone does not tell and counts as global.
    pub regional: bool,
}

/// The model behind a spelling: ids of the Claude API (dated, `-latest`, `[1m]`), Bedrock ids, ARNs and URLs, Vertex ids
/// and paths, OpenRouter slugs, Copilot ids, and these behind the prefixes of common routers. Case and percent escapes
/// do not matter. `None` for everything else; names without a version (`opus`) are not models.
pub fn resolve(spelling: &str) -> Option<Resolved> {
    let text = plain(spelling.trim());
    let (before, name) = text.split_at(text.rfind("claude-")?);
    let slug = Slug::parse(name)?;
    let (platform, regional) = seller(before, &slug)?;
    let found = MODELS.iter().find(|row| row.family == slug.family && row.version == slug.version)?;
    Some(Resolved { id: found.model, platform, regional })
}

/// Characters of model ids that clients escape in URLs, in lower case.
const ESCAPES: [(&str, &str); 5] = [("%3a", ":"), ("%40", "@"), ("%2f", "/"), ("%5b", "["), ("%5d", "]")];

fn plain(spelling: &str) -> String {
    let lower = spelling.to_ascii_lowercase();
    ESCAPES.iter().fold(lower, |text, (escape, character)| text.replace(escape, character))
}

/// Prefixes that name a platform. The bare ones with a colon are pydantic-ai's, those with a slash LiteLLM's.
const SELLERS: [(&str, Platform); 8] = [
    ("anthropic:", Platform::Claude),
    ("openrouter/anthropic/", Platform::OpenRouter),
    ("openrouter:anthropic/", Platform::OpenRouter),
    ("vertex_ai/", Platform::Vertex),
    ("google-vertex:", Platform::Vertex),
    ("azure_ai/", Platform::Foundry),
    ("github_copilot/", Platform::Copilot),
    ("copilot/", Platform::Copilot),
];

/// Platform and geography from what stands before the name.
fn seller(before: &str, slug: &Slug) -> Option<(Platform, bool)> {
    if let Some(place) = before.strip_suffix("anthropic.") {
        let geography = place.rsplit(['/', ':']).next().unwrap_or_default();
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
        "" | "anthropic/" => Platform::Claude,
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

/// What Bedrock's URLs put behind the id.
const BEDROCK_ACTIONS: [&str; 4] = ["/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream"];

impl Slug {
    fn parse(name: &str) -> Option<Self> {
        let name = name.strip_prefix("claude-")?;
        let name = BEDROCK_ACTIONS.iter().find_map(|action| name.strip_suffix(action)).unwrap_or(name);
        let name = without_variant(name.strip_suffix("[1m]").unwrap_or(name))?;
        let dashed = name.replace('@', "-");
        let parts: Vec<&str> = dashed.split('-').collect();
        let (at, family) = parts.iter().enumerate().find_map(|(at, part)| Some((at, family(part)?)))?;
        let (front, back) = (parts.get(..at)?, parts.get(at + 1..)?);
        // `3-5-haiku` and `4.6-sonnet` have the version in front, later ids behind the family.
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

/// What may follow the version: the date of a snapshot, an alias, or a revision as in `-v1`.
fn is_suffix(part: &str) -> bool {
    let is_date = part.len() == 8 && part.starts_with("20") && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_revision = part.strip_prefix('v').is_some_and(|revision| number(revision).is_some());
    is_date || is_revision || matches!(part, "latest" | "default")
}

#[cfg(test)]
mod tests {
    use super::{MODELS, Platform, resolve};

    #[test]
    fn rows_are_found_by_their_keys_and_their_ids() {
        for (at, row) in MODELS.iter().enumerate() {
            assert_eq!(row.model as usize, at);
            assert_eq!(row.model.row(), row);
            assert_eq!(row.model.to_string(), row.id);
            let found = resolve(row.id).map(|found| (found.id, found.platform, found.regional));
            assert_eq!(found, Some((row.model, Platform::Claude, false)));
        }
    }

    #[test]
    fn rows_are_sorted() {
        assert!(MODELS.is_sorted_by_key(|row| (row.family, row.version)));
    }
}
