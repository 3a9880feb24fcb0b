//! Bodies and headers as vcrpy and its plug-ins store them.

use std::borrow::Cow;

use forkcast_sim::time::Duration;

use crate::formats::gzip::{self, inflate};
use crate::formats::value::Value;

/// Largest body of one message, unpacked. The API takes 32 MB.
const BODY_LIMIT: u64 = 256 << 20;

/// The body of a request or an answer: `parsed_body` as JSON, else `body`, `body.string` as it stands, unpacked.
pub(super) fn body(message: &Value) -> Result<Cow<'_, [u8]>, String> {
    if let Some(parsed) = message.get("parsed_body") {
        return Ok(Cow::Owned(parsed.to_json()));
    }
    let body = message.get("body").unwrap_or(&Value::Null);
    match body.get("string").unwrap_or(body) {
        Value::Text(text) => Ok(Cow::Borrowed(text.as_bytes())),
        Value::Bytes(bytes) => unpacked(bytes),
        Value::Null => Ok(Cow::Borrowed(&[])),
        parsed => Ok(Cow::Owned(parsed.to_json())),
    }
}

fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(gzip::MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let inflated = inflate(bytes, BODY_LIMIT);
    match inflated.fault {
        // Some recorders cut the trailer off; what came out is judged by the reader of the body.
        Some(fault) if inflated.bytes.is_empty() => Err(format!("packed body: {fault}")),
        _ => Ok(Cow::Owned(inflated.bytes)),
    }
}

/// The first value of a header; names in any case, values as text, as bytes or as a list of either.
pub(super) fn header<'a>(message: &'a Value, name: &str) -> Option<Cow<'a, str>> {
    let headers = message.get("headers")?.members();
    let value = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)?;
    match value {
        Value::List(values) => header_text(values.first()?),
        single => header_text(single),
    }
}

fn header_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(Cow::Borrowed(text)),
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
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

/// How long the provider took, by its own headers.
///
/// `x-amz-date` of the request is not used: recorders that replay a session keep it from the first time.
pub(super) fn latency(response: &Value) -> Option<Duration> {
    const HEADERS: &[&str] =
        &["x-amzn-bedrock-invocation-latency", "x-envoy-upstream-service-time", "openai-processing-ms"];
    let millis = HEADERS.iter().find_map(|name| header(response, name)?.trim().parse().ok())?;
    Some(Duration::from_millis(millis))
}
