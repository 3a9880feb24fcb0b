//! Streams of AWS (`application/vnd.amazon.eventstream`) as text of server-sent events.
//!
//! Bedrock frames each event in binary (AWS, "Amazon Transcribe/Bedrock event stream encoding": lengths, headers such as
//! `:event-type`, payload, checksums). The payload is JSON: for `InvokeModel` `{"bytes": <base64 of an event>}`, for
//! Converse the event itself. Recorders that keep bodies as text (claude-trace does) break the binary parts and leave the
//! payloads whole, so payloads are found by their shape and the frames around them are ignored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::formats::json::{self, member, member_text};

/// A header that every event has; the first one is at the beginning of the body.
const EVENT_TYPE: &[u8] = b":event-type";

/// The search for the first header ends here.
const HEAD: usize = 256;

/// The maximum number of false beginnings of a payload (bytes of checksums may look like one).
const MISSES_MAX: usize = 1_000;

/// The events as text, if `body` is such a stream.
pub(super) fn text(body: &[u8]) -> Option<Vec<u8>> {
    let head = body.get(..HEAD).unwrap_or(body);
    memchr::memmem::find(head, EVENT_TYPE)?;
    let mut out = Vec::with_capacity(body.len());
    let (mut at, mut misses) = (0, 0);
    while let Some(start) = memchr::memmem::find(&body[at..], b"{\"").map(|found| at + found) {
        match payload(body, start) {
            Some((event, end)) => {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(&event);
                out.extend_from_slice(b"\n\n");
                at = end;
            }
            None if misses == MISSES_MAX => break,
            None => {
                misses += 1;
                at = start + 1;
            }
        }
    }
    Some(out)
}

/// The event whose payload begins at `start`, and where the payload ends.
fn payload(body: &[u8], start: usize) -> Option<(Vec<u8>, usize)> {
    let end = json::walk_value(body, start).ok()?;
    let raw = body.get(start..end)?;
    serde_json::from_slice::<serde::de::IgnoredAny>(raw).ok()?;
    let event = match member_text(raw, "bytes") {
        Some(packed) if member(raw, "usage").is_none() => BASE64.decode(packed.as_bytes()).ok()?,
        _ => raw.to_vec(),
    };
    Some((event.into_iter().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect(), end))
}
