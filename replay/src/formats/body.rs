//! Checks of every request body before it is used.

use serde_json::value::RawValue;

use super::json::{Broken, DEPTH_LIMIT, Scanner, skip_space, text, unescaped};
use super::text::{glimpse, json_reason};

/// Checks that `bytes` are one JSON object, nested no deeper than later readers can process, and returns its model
/// (empty if there is none; the last one if there are several, as in common JSON readers).
///
/// Lone surrogates (`"\ud83d"`) are accepted: they were sent, and only the code that decodes the string can decide what
/// they mean.
pub(crate) fn check(bytes: &[u8]) -> Result<String, Broken> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) == Some(&b'{') {
        check_json(bytes)?;
    }
    look(bytes)
}

/// Checks that `bytes` are JSON.
pub(crate) fn check_json(bytes: &[u8]) -> Result<(), Broken> {
    serde_json::from_slice::<&RawValue>(bytes).map(drop).map_err(|error| broken(bytes, &error))
}

/// Checks that no member of the object at `start` is nested too deep; `depth` is that of the first deep one, or of any.
pub(crate) fn check_depth(start: usize, depth: usize) -> Result<(), Broken> {
    if depth < DEPTH_LIMIT {
        return Ok(());
    }
    let what = format!("found a body nested {} deep, expected at most {DEPTH_LIMIT}", depth + 1);
    Err(Broken { at: start, what })
}

/// [`check`] for bytes that are known to be JSON.
pub(crate) fn look(bytes: &[u8]) -> Result<String, Broken> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) != Some(&b'{') {
        let found = glimpse(&bytes[start..]);
        return Err(Broken { at: start, what: format!("found {found}, expected a request body (a JSON object)") });
    }
    let mut model = String::new();
    let mut scanner = Scanner::at(bytes, start);
    let broken = |error| Broken::of(bytes, error);
    scanner.enter(b'{').map_err(broken)?;
    while let Some(key) = scanner.key().map_err(broken)? {
        let value = scanner.value().map_err(broken)?;
        check_depth(start, scanner.depth())?;
        if unescaped(key) == "model" {
            model = text(value).unwrap_or_default().into_owned();
        }
    }
    Ok(model)
}

/// serde_json returns line and column; everything here uses offsets.
fn broken(bytes: &[u8], error: &serde_json::Error) -> Broken {
    let lines = memchr::memchr_iter(b'\n', bytes).map(|newline| newline + 1);
    let start = std::iter::once(0).chain(lines).nth(error.line().saturating_sub(1)).unwrap_or(0);
    let at = start.saturating_add(error.column().saturating_sub(1)).min(bytes.len());
    Broken { at, what: json_reason(error) }
}

/// The provider of a body without an address, by its model's name (for `openai/gpt-5` the part after the last slash).
/// Bodies with unknown names count as Messages bodies, because formats without an address contain those.
pub(crate) fn provider_by_model(model: &str) -> Option<&'static str> {
    const FAMILIES: &[(&str, &str)] = &[
        ("gpt-", "openai"),
        ("chatgpt-", "openai"),
        ("codex-", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "gemini"),
        ("gemma", "gemini"),
        ("grok", "xai"),
        ("deepseek", "deepseek"),
        ("mistral", "mistral"),
        ("ministral", "mistral"),
        ("magistral", "mistral"),
        ("devstral", "mistral"),
        ("codestral", "mistral"),
        ("command-", "cohere"),
        ("kimi", "moonshot"),
        ("moonshot", "moonshot"),
        ("glm-", "zai"),
        ("qwen", "alibaba"),
        ("minimax", "minimax"),
        ("llama", "meta"),
        ("amazon.nova", "bedrock"),
    ];
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    if name.contains("claude") {
        return None;
    }
    FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, provider)| *provider)
}
