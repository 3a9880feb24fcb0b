//! Definitions as markdown: frontmatter between two lines `---`, then the system prompt (ADEF-13).

use std::collections::BTreeMap;

use serde_json::Value;
use serde_saphyr::Spanned;

use crate::outside::{complaint, found};

use super::check::{Field, Raw};
use super::invalid::Invalid;
use super::sources::Text;

/// The line at the start and end of frontmatter.
const FENCE: &str = "---";

/// Reads `text`.
///
/// # Errors
/// If the frontmatter is missing, unterminated, or not valid YAML.
pub(super) fn read(text: &Text) -> Result<Raw, Invalid> {
    let (front, body, body_line) = split(text)?;
    let parsed: BTreeMap<String, Spanned<Value>> = match serde_saphyr::from_str(front) {
        Ok(parsed) => parsed,
        Err(error) => return Err(no_yaml(text, &error)),
    };
    // The fence is line one, so every frontmatter line is shifted by one.
    let line = |field: &Spanned<Value>| usize::try_from(field.referenced.line()).unwrap_or(0) + 1;
    let mut fields: BTreeMap<String, Field> =
        parsed.into_iter().map(|(name, field)| (name, Field { line: line(&field), value: field.value })).collect();
    fields.insert("prompt".to_owned(), Field { line: body_line, value: Value::from(body) });
    Ok(Raw { fields, line: 1, place: String::new() })
}

/// Frontmatter, body, and the line on which the body begins.
fn split(text: &Text) -> Result<(&str, &str, usize), Invalid> {
    let whole = text.text.strip_prefix('\u{feff}').unwrap_or(&text.text);
    let first = whole.lines().next().unwrap_or_default();
    if first.trim_end() != FENCE {
        let found = if first.is_empty() { "nothing".to_owned() } else { found(first) };
        return Err(Invalid::at(text, 1, "frontmatter", found, "a first line `---`"));
    }
    let front_at = whole.find('\n').map_or(whole.len(), |at| at + 1);
    let mut at = front_at;
    for (number, line) in whole[front_at..].split_inclusive('\n').enumerate() {
        if line.trim_end() == FENCE {
            return Ok((&whole[front_at..at], whole[at + line.len()..].trim(), number + 3));
        }
        at += line.len();
    }
    Err(Invalid::at(text, whole.lines().count(), "frontmatter", "the end of the file", "a line `---` that ends it"))
}

fn no_yaml(text: &Text, error: &serde_saphyr::Error) -> Invalid {
    let line = error.location().and_then(|location| usize::try_from(location.line()).ok()).unwrap_or(0) + 1;
    Invalid::at(
        text,
        line,
        "frontmatter",
        complaint::yaml(error),
        "YAML fields; quote values that contain `: `, `#` or quotes",
    )
}
