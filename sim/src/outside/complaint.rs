//! Parser errors in our own words, with kinds and lengths instead of the values that were read.
//!
//! Error messages of serde quote the value that they refuse, whatever its length (`invalid type: string "…"`). They
//! exist only as text, so that text is parsed here. No other module turns a parser's error into text
//! (`tests/house.rs`).

use serde_json::error::Category;

use super::{text_of, word};

/// Used for a shape that no message below describes.
const OTHER_SHAPE: &str = "found an unexpected shape";

/// The complaint of `serde_json`, without the place: it is relative to a slice and would mislead.
pub fn json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = text.strip_suffix(&place).unwrap_or(&text);
    match error.classify() {
        Category::Data => shape(said, None).or_else(|| limit(said)).unwrap_or_else(|| OTHER_SHAPE.to_owned()),
        // These messages are fixed texts.
        Category::Io | Category::Syntax | Category::Eof => said.to_owned(),
    }
}

/// A message of our own deserializers that a limit is exceeded; it holds no content.
fn limit(said: &str) -> Option<String> {
    let rest = said.strip_prefix("found more than ")?;
    let is_plain = rest.starts_with(|first: char| first.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase() || c == ' ');
    is_plain.then(|| said.to_owned())
}

/// The complaint of `toml` about `text`, with the [word] at that place.
pub fn toml(error: &toml::de::Error, text: &str) -> String {
    let there = error.span().and_then(|span| text.get(span)).and_then(word);
    // Other messages are fixed texts, or our own.
    shape(error.message(), there).unwrap_or_else(|| error.message().replace('\n', ": "))
}

/// The complaint of `serde_saphyr`.
#[cfg(feature = "runtime")]
pub fn yaml(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;
    let expected = |words: &[&str]| words.join(", ");
    match error.without_snippet() {
        Error::SerdeInvalidType { unexpected, expected, .. } => refused(unexpected, "", expected, None),
        Error::SerdeInvalidValue { unexpected, expected, .. } => refused(unexpected, DOES_NOT_FIT, expected, None),
        Error::SerdeUnknownVariant { expected: words, .. } => format!("unknown word, expected {}", expected(words)),
        Error::SerdeUnknownField { expected: words, .. } => format!("unknown field, expected {}", expected(words)),
        Error::DuplicateMappingKey { key, .. } => match key.as_deref().and_then(word) {
            Some(key) => format!("found the field `{key}` twice"),
            None => "found a field twice".to_owned(),
        },
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. } => {
            shape(msg, None).unwrap_or_else(|| first_line(msg))
        }
        Error::AliasError { error, .. } => yaml(error),
        Error::NonFiniteFloat { .. }
        | Error::SerdeVariantId { .. }
        | Error::TaggedEnumMismatch { .. }
        | Error::QuotingRequired { .. }
        | Error::HookError { .. }
        | Error::UnsupportedTag { .. }
        | Error::TaggedStructFieldName { .. } => OTHER_SHAPE.to_owned(),
        // These messages are fixed except for numbers.
        other => first_line(&other.to_string()),
    }
}

#[cfg(feature = "runtime")]
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Added to a value of the right kind.
const DOES_NOT_FIT: &str = " that does not fit";

/// A serde message in our words; `None` for any other message.
fn shape(said: &str, there: Option<&str>) -> Option<String> {
    let refusal = |rest: &str, remark| {
        // The expectation is the last part, whatever the quoted value contains.
        let (unexpected, expected) = rest.rsplit_once(", expected ")?;
        Some(refused(unexpected, remark, expected, there))
    };
    if let Some(rest) = said.strip_prefix("invalid type: ") {
        return Some(refusal(rest, "").unwrap_or_else(|| OTHER_SHAPE.to_owned()));
    }
    if let Some(rest) = said.strip_prefix("invalid value: ") {
        return Some(refusal(rest, DOES_NOT_FIT).unwrap_or_else(|| OTHER_SHAPE.to_owned()));
    }
    for (prefix, what) in [("unknown field `", "field"), ("unknown variant `", "word")] {
        if said.starts_with(prefix) {
            return Some(unknown(what, said, there));
        }
    }
    let is_fixed = |prefix: &str| said.strip_prefix(prefix).and_then(|rest| word(rest.strip_suffix('`')?)).is_some();
    let is_plain = is_fixed("missing field `")
        || is_fixed("duplicate field `")
        || said.starts_with("invalid length ")
        || said.starts_with("data did not match any variant of ");
    is_plain.then(|| said.to_owned())
}

fn unknown(what: &str, said: &str, there: Option<&str>) -> String {
    let name = there.map_or_else(String::new, |word| format!(" `{word}`"));
    match said.rsplit_once("`, expected ") {
        Some((_, expected)) => format!("unknown {what}{name}, expected {expected}"),
        None => format!("unknown {what}{name}"),
    }
}

fn refused(unexpected: &str, remark: &str, expected: &str, there: Option<&str>) -> String {
    let found = there.map_or_else(|| format!("{}{remark}", kind(unexpected)), |word| format!("`{word}`"));
    format!("found {found}, expected {}", expectation(expected))
}

/// How serde begins the kinds of values in its messages, and what they are called here.
const KINDS: [(&str, &str); 12] = [
    ("boolean", "true or false"),
    ("integer", "an integer"),
    ("floating point", "a number"),
    ("number", "a number"),
    ("character", "a text of 1 character"),
    ("byte array", "bytes"),
    ("unit value", "nothing"),
    ("null", "null"),
    ("sequence", "a list"),
    ("map", "an object"),
    ("datetime", "a date"),
    ("enum", "a variant"),
];

fn kind(unexpected: &str) -> String {
    if let Some(quoted) = unexpected.strip_prefix("string \"") {
        return text_of(characters(quoted.strip_suffix('"').unwrap_or(quoted)));
    }
    let known = KINDS.iter().find(|(start, _)| unexpected.starts_with(start));
    known.map_or("something else", |(_, name)| *name).to_owned()
}

/// The number of characters in a text written with Rust escapes.
fn characters(escaped: &str) -> usize {
    let mut count = 0;
    let mut chars = escaped.chars();
    while let Some(c) = chars.next() {
        count += 1;
        if c == '\\' && chars.next() == Some('u') {
            chars.by_ref().find(|c| *c == '}');
        }
    }
    count
}

/// The expectation, with Rust's type names translated.
fn expectation(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, not negative",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" | "sequence" => "a list",
        "a map" | "map" => "an object",
        name if name.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::{json, toml};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[allow(dead_code)] // Never read: only parsing matters.
        count: u64,
    }

    fn complaint(text: &str) -> String {
        json(&serde_json::from_str::<Sample>(text).unwrap_err())
    }

    #[test]
    fn the_kind_and_the_length_replace_the_value() {
        let expected = "expected a whole number, not negative";
        assert_eq!(complaint(r#"{"count":"my\nsecret"}"#), format!("found a text of 9 characters, {expected}"));
        assert_eq!(complaint(r#"{"count":-4}"#), format!("found an integer that does not fit, {expected}"));
        assert_eq!(complaint(r#"{"count":null}"#), format!("found null, {expected}"));
        assert_eq!(complaint(r#"{"count":[1]}"#), format!("found a list, {expected}"));
        assert_eq!(complaint("7"), "found an integer, expected an object");
        assert_eq!(complaint("{}"), "missing field `count`");
        assert_eq!(complaint(r#"{"count":1"#), "EOF while parsing an object");
        assert_eq!(complaint(r#"{"secret":1}"#), "unknown field, expected `count`");
    }

    #[test]
    fn a_value_cannot_pass_for_the_end_of_the_message() {
        for secret in ["x\", expected secret", "x`, expected secret", ", expected secret at line 1 column 2", "\\\""] {
            let quoted = serde_json::to_string(secret).unwrap();
            let texts = [format!("{{\"count\":{quoted}}}"), format!("{{{quoted}:1}}"), quoted.clone()];
            for text in texts {
                assert!(!complaint(&text).contains("secret"), "{text}: {}", complaint(&text));
            }
        }
    }

    #[test]
    fn files_that_people_write_have_their_words_repeated() {
        let complaint = |text: &str| toml(&::toml::from_str::<Sample>(text).unwrap_err(), text);
        assert_eq!(complaint("cuont = 1"), "unknown field `cuont`, expected `count`");
        assert_eq!(complaint("count = -1"), "found `-1`, expected a whole number, not negative");
        let long = complaint("count = 'a long secret'");
        assert_eq!(long, "found a text of 13 characters, expected a whole number, not negative");
        let list = ::toml::from_str::<BTreeMap<String, Sample>>("a = [").unwrap_err();
        assert!(toml(&list, "a = [").contains("expected"), "{list}");
    }
}
