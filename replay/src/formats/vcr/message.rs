//! Bodies and headers as vcrpy, its plug-ins and ruby VCR store them.

use std::borrow::Cow;

use crate::formats::value::{Value, unpacked_base64};
use crate::http::Headers;

/// The body of a request or an answer: `parsed_body` as JSON, else `body.base64_string` decoded, else `body` or
/// `body.string` unchanged.
pub(super) fn body(message: &Value) -> Result<Cow<'_, [u8]>, String> {
    if let Some(parsed) = message.get("parsed_body") {
        return Ok(Cow::Owned(parsed.to_json()));
    }
    let body = message.at("body");
    if let Some(packed) = body.text_of("base64_string") {
        let bytes = unpacked_base64(packed).map_err(|error| format!("`base64_string` is no base64: {error}"))?;
        return Ok(Cow::Owned(bytes));
    }
    Ok(match body.get("string").unwrap_or(body) {
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Null => Cow::Borrowed(&[]),
        parsed => Cow::Owned(parsed.to_json()),
    })
}

/// All headers; values are text, bytes or a list of either.
pub(super) fn headers(message: &Value) -> Headers<'_> {
    let mut headers = Headers::default();
    for (name, value) in message.at("headers").members() {
        let values = match value {
            Value::List(values) => values.as_slice(),
            single => std::slice::from_ref(single),
        };
        for value in values.iter().filter_map(header_text) {
            headers.push(name.as_str(), value);
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

/// The HTTP status: `{code, message}` or a number.
pub(super) fn status(response: &Value) -> Option<u16> {
    let status = response.get("status")?;
    match status.get("code").unwrap_or(status) {
        Value::Number(digits) | Value::Text(digits) => digits.parse().ok(),
        _ => None,
    }
}
