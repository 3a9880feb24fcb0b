//! From any spelling to a model of any maker.

use std::cell::RefCell;

use super::{MODELS, Model, Platform, Resolved, Vendor, claude};
use crate::wire::Index;

/// The model that a spelling means. Claude: ids of the Claude API (dated, `-latest`, `[1m]`), Bedrock ids, ARNs and
/// URLs, Vertex ids and paths, OpenRouter slugs, Copilot ids. Others: ids and their aliases, dated snapshots,
/// `-latest`, dots written as dashes, `models/…` and Vertex paths of Gemini with or without a method. All of these also
/// after the prefixes of common routers. Case and percent escapes do not matter. `None` for everything else: names
/// without a version (`opus`) are not models, and a longer name (`gpt-5-codex`) is not the model with whose name it
/// begins.
pub fn resolve(spelling: &str) -> Option<Resolved> {
    // A recording names few models and asks about each request: reading each spelling again took half the time of a trace.
    thread_local! {
        static KNOWN: RefCell<Index<String, Option<Resolved>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(resolved) = known.get(spelling) {
            return *resolved;
        }
        let resolved = read(spelling);
        if known.len() < KNOWN_MAX && spelling.len() < KNOWN_BYTES_MAX {
            known.insert(spelling.to_owned(), resolved);
        }
        resolved
    })
}

/// Spellings remembered by a thread, and their length: more than real recordings have, and little memory for others.
const KNOWN_MAX: usize = 1_000;
const KNOWN_BYTES_MAX: usize = 200;

fn read(spelling: &str) -> Option<Resolved> {
    let text = plain(spelling.trim());
    if text.contains("claude-") { claude::resolve(&text) } else { resolve_other(&text) }
}

/// Characters of model ids that clients escape in URLs, in lower case.
const ESCAPES: [(&str, &str); 5] = [("%3a", ":"), ("%40", "@"), ("%2f", "/"), ("%5b", "["), ("%5d", "]")];

fn plain(spelling: &str) -> String {
    let lower = spelling.to_ascii_lowercase();
    if !lower.contains('%') {
        return lower;
    }
    ESCAPES.iter().fold(lower, |text, (escape, character)| text.replace(escape, character))
}

/// Prefixes of routers, with the platform that each implies. Those with a colon are pydantic-ai's, those with a slash
/// LiteLLM's; the rest may begin with a maker's prefix.
const ROUTERS: [(&str, Platform); 14] = [
    ("openrouter/", Platform::OpenRouter),
    ("openrouter:", Platform::OpenRouter),
    ("vertex_ai/", Platform::Vertex),
    ("google-vertex:", Platform::Vertex),
    ("azure/", Platform::Foundry),
    ("azure:", Platform::Foundry),
    ("azure_ai/", Platform::Foundry),
    ("github_copilot/", Platform::Copilot),
    ("copilot/", Platform::Copilot),
    ("gemini/", Platform::Maker),
    ("google-gla:", Platform::Maker),
    ("openai-responses:", Platform::Maker),
    ("openai-chat:", Platform::Maker),
    // Venice: `openai-gpt-6-sol`.
    ("openai-", Platform::Maker),
];

/// Prefixes that name the maker, as `OpenRouter` and others write them; pydantic-ai writes a colon instead of the
/// slash.
const MAKERS: [(&str, Vendor); 14] = [
    ("openai", Vendor::OpenAi),
    ("google", Vendor::Google),
    ("deepseek", Vendor::DeepSeek),
    ("deepseek-ai", Vendor::DeepSeek),
    ("moonshotai", Vendor::Moonshot),
    ("moonshot", Vendor::Moonshot),
    ("x-ai", Vendor::Xai),
    ("xai", Vendor::Xai),
    ("grok", Vendor::Xai),
    ("z-ai", Vendor::Zhipu),
    ("zai", Vendor::Zhipu),
    ("mistralai", Vendor::Mistral),
    ("mistral", Vendor::Mistral),
    ("cohere", Vendor::Cohere),
];

fn resolve_other(text: &str) -> Option<Resolved> {
    let (router, rest) = ROUTERS
        .iter()
        .find_map(|(prefix, platform)| Some((Some(*platform), text.strip_prefix(prefix)?)))
        .unwrap_or((None, text));
    if let Some((platform, regional, name)) = google_path(rest) {
        let row = named(name).filter(|row| row.vendor == Vendor::Google)?;
        return Some(Resolved { id: row.model, platform: router.unwrap_or(platform), regional });
    }
    let (maker, name) = maker(rest);
    let row = named(name).filter(|row| maker.is_none_or(|maker| row.vendor == maker))?;
    Some(Resolved { id: row.model, platform: router.unwrap_or(Platform::Maker), regional: false })
}

/// The maker's prefix and the text after it.
fn maker(text: &str) -> (Option<Vendor>, &str) {
    let found = MAKERS.iter().find_map(|(prefix, vendor)| {
        let rest = text.strip_prefix(prefix)?;
        Some((Some(*vendor), rest.strip_prefix(['/', ':'])?))
    });
    found.unwrap_or((None, text))
}

/// Methods after a Gemini model in an address.
const METHODS: [&str; 3] = ["generatecontent", "streamgeneratecontent", "counttokens"];

/// A model in a path of Google's: its platform, whether the path binds the request to a geography, and the name.
fn google_path(text: &str) -> Option<(Platform, bool, &str)> {
    let (before, name) = text.rsplit_once("models/")?;
    let vertex = before.ends_with("publishers/google/");
    let own = before.is_empty() || before == "google/" || before.ends_with("googleapis.com/v1beta/");
    let name = match name.split_once(':') {
        Some((name, method)) => METHODS.contains(&method).then_some(name)?,
        None => name,
    };
    let regional = before.contains("locations/") && !before.contains("locations/global/");
    match (vertex, own) {
        (true, _) => Some((Platform::Vertex, regional, name)),
        (_, true) => Some((Platform::Maker, false, name)),
        _ => None,
    }
}

/// The row of a bare name: its id or alias, with or without a snapshot's date or `-latest`, dots or dashes.
fn named(name: &str) -> Option<&'static Model> {
    exact(name).or_else(|| {
        let undated = without_date(name).or_else(|| name.strip_suffix("-latest"))?;
        exact(undated)
    })
}

fn exact(name: &str) -> Option<&'static Model> {
    let name = undotted(name);
    let is = |known: &str| undotted(known) == name;
    let rows = MODELS.iter().filter(|row| row.vendor != Vendor::Anthropic);
    rows.into_iter().find(|row| is(row.id) || row.aliases.iter().any(|alias| is(alias)))
}

/// The name with dashes for the dots of its version, which some routers write, and for an `@` before its version, which
/// Runware writes.
fn undotted(name: &str) -> String {
    let digit = |at: Option<usize>| at.and_then(|at| name.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let is_dash = |at: usize, c: char| match c {
        '.' => digit(at.checked_sub(1)) && digit(Some(at + 1)),
        '@' => digit(Some(at + 1)),
        _ => false,
    };
    name.char_indices().map(|(at, c)| if is_dash(at, c) { '-' } else { c }).collect()
}

/// The name without a snapshot's date, `-2024-08-06` or `-20260512`.
fn without_date(name: &str) -> Option<&str> {
    let short = |length: usize| name.len().checked_sub(length).and_then(|at| name.split_at_checked(at));
    let is_year = |digits: &str| digits.starts_with("20");
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((front, date)) = short("-20260512".len())
        && let Some(date) = date.strip_prefix('-')
        && digits(date)
        && is_year(date)
    {
        return Some(front);
    }
    let (front, date) = short("-2024-08-06".len())?;
    let [year, month, day] = date.strip_prefix('-')?.splitn(3, '-').collect::<Vec<_>>().try_into().ok()?;
    let fits = year.len() == 4 && month.len() == 2 && day.len() == 2 && is_year(year);
    (fits && [year, month, day].into_iter().all(digits)).then_some(front)
}
