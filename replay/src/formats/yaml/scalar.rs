//! The meaning of a YAML scalar. Psych (ruby) writes `!binary` where PyYAML writes `!!binary`.

use serde_saphyr::granit_parser::{ScalarStyle, Tag};

use crate::formats::value::{Value, number, unpacked_base64};

/// The meaning of a scalar by the rules of PyYAML's writer: quoted or tagged `!!str` is text; plain is null, a boolean,
/// an integer, a float with a point, or text.
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let tag =
        tag.and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").or_else(|| tag.suffix_in_namespace("!")));
    match tag.as_deref() {
        Some("binary") => {
            unpacked_base64(text).map(Value::Bytes).map_err(|error| format!("`!!binary` is no base64: {error}"))
        }
        Some("str" | "python/unicode" | "python/str") => Ok(Value::text(text)),
        _ if style != ScalarStyle::Plain => Ok(Value::text(text)),
        _ => Ok(plain(text)),
    }
}

/// Whether a list is the arguments of a Python call, as PyYAML writes objects of other classes.
pub(super) fn is_call(tag: &Tag) -> bool {
    let name = tag.suffix_in_namespace("tag:yaml.org,2002:");
    name.is_some_and(|name| name.starts_with("python/object/apply:") || name.starts_with("python/object/new:"))
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
    {
        return Value::Number(text.strip_prefix('+').unwrap_or(text).to_owned());
    }
    let is_float = digits.contains('.')
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f64>() {
        Ok(value) if is_float => number(value),
        _ => Value::text(text),
    }
}
