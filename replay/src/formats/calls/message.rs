//! Parts of requests and answers in the spellings that several recorders share.

use std::borrow::Cow;

use crate::formats::value::{Value, unpacked_base64};
use crate::http::Headers;

/// The bytes of a body that is text, bytes or parsed.
pub(in crate::formats) fn bytes(body: &Value) -> Cow<'_, [u8]> {
    match body {
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Null => Cow::Borrowed(&[]),
        parsed => Cow::Owned(parsed.to_json()),
    }
}

/// The bytes of a body in base64; `whose` is its place for the error.
pub(in crate::formats) fn unpacked(text: &str, whose: &str) -> Result<Cow<'static, [u8]>, String> {
    let bytes = unpacked_base64(text).map_err(|error| format!("{whose} is no base64: {error}"))?;
    Ok(Cow::Owned(bytes))
}

/// All headers, under `headers` or `header`: members whose value is text, bytes or a list of either, or a list of
/// `{name, value}`.
pub(in crate::formats) fn headers(message: &Value) -> Headers<'_> {
    let mut headers = Headers::default();
    let found = message.get("headers").unwrap_or(message.at("header"));
    for (name, value) in found.members() {
        let values = match value {
            Value::List(values) => values.as_slice(),
            single => std::slice::from_ref(single),
        };
        for value in values.iter().filter_map(header_text) {
            headers.push(name.as_str(), value);
        }
    }
    for header in found.elements() {
        if let (Some(name), Some(value)) = (header.text_of("name"), header.text_of("value")) {
            headers.push(name, value);
        }
    }
    headers
}

fn header_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text),
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// The HTTP status: `{code, message}`, a number, or text that begins with one (`200 OK`).
pub(in crate::formats) fn status(response: &Value) -> Option<u16> {
    let status = response.get("status")?;
    match status.get("code").unwrap_or(status) {
        Value::Number(code) => code.parse().ok(),
        Value::Text(line) => line.split(' ').next()?.parse().ok(),
        _ => None,
    }
}
