//! Events of server-sent events (WHATWG HTML, section "event stream interpretation"), as recorders left them.

use std::borrow::Cow;

use super::payload::Event;

/// A body that does not begin with `{`.
pub(super) enum Payload<'a> {
    /// A stream of events.
    Events,
    /// JSON after comment lines, which keep slow connections open.
    Json(&'a [u8]),
    /// Neither of the two.
    Neither,
}

/// Recognises a stream by its first lines.
pub(super) fn payload(body: &[u8]) -> Payload<'_> {
    let mut rest = body;
    loop {
        let (line, behind) = split_line(rest);
        let line = line.trim_ascii_start();
        match line.first() {
            Some(b':') | None if !behind.is_empty() => rest = behind,
            Some(b'{') => return Payload::Json(rest),
            _ => break,
        }
    }
    let (line, _) = split_line(rest);
    let is_field = [&b"event:"[..], b"data:", b"id:", b"retry:"].iter().any(|field| line.starts_with(field));
    if is_field { Payload::Events } else { Payload::Neither }
}

fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr2(b'\n', b'\r', bytes) {
        None => (bytes, &[]),
        Some(i) if bytes[i..].starts_with(b"\r\n") => (&bytes[..i], &bytes[i + 2..]),
        Some(i) => (&bytes[..i], &bytes[i + 1..]),
    }
}

/// The frames of `body` with data, their `data` lines joined by newlines. The last one counts even without an empty line
/// after it, because recorders trim bodies.
pub(super) fn frames(body: &[u8]) -> impl Iterator<Item = Event<'_>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let mut data: Option<Cow<'_, [u8]>> = None;
        while !rest.is_empty() {
            let (line, behind) = split_line(rest);
            rest = behind;
            match (field(line), data.as_mut()) {
                (Some(value), None) => data = Some(Cow::Borrowed(value)),
                (Some(value), Some(data)) => {
                    data.to_mut().push(b'\n');
                    data.to_mut().extend_from_slice(value);
                }
                (None, Some(_)) if line.is_empty() => break,
                (None, _) => {}
            }
        }
        data.map(|data| Event { data, last: rest.trim_ascii().is_empty() })
    })
}

fn field(line: &[u8]) -> Option<&[u8]> {
    let value = line.strip_prefix(b"data:")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}
