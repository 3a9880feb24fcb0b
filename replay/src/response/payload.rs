//! The body of an answer: one JSON object or a stream of events, in any framing.

use std::borrow::Cow;

use super::{eventstream, sse};
use crate::formats::json::{ranges, skip_space, walk_value};
use crate::formats::text::{glimpse, json_reason};

/// One event of a stream.
pub(super) struct Event<'a> {
    /// Its data, JSON unless it is damaged.
    pub data: Cow<'a, [u8]>,
    /// Nothing follows it. If a stream broke off, its last event is incomplete.
    pub last: bool,
}

/// A stream.
#[derive(Default)]
pub(super) struct Events<'a> {
    /// Its events in order.
    pub list: Vec<Event<'a>>,
    /// Damage to the framing that lost an event.
    pub faults: Vec<String>,
    /// The cause of an early end, if the framing shows one.
    pub cut: Option<String>,
}

/// A body.
pub(super) enum Payload<'a> {
    /// One JSON object.
    Json(&'a [u8]),
    /// A stream of them: server-sent events, one object per line, a list (Gemini without `alt=sse`) or AWS frames.
    Events(Events<'a>),
    /// Neither, with a message.
    Neither(String),
}

/// Recognises a body by its first bytes, because recorders store headers and bodies separately.
pub(super) fn of(body: &[u8]) -> Payload<'_> {
    if eventstream::begins(body) {
        return Payload::Events(eventstream::events(body));
    }
    let body = body.trim_ascii();
    match body.first() {
        None => Payload::Neither("found an empty answer, expected JSON or a stream".to_owned()),
        Some(b'{') => objects(body),
        Some(b'[') => Payload::Events(list(body)),
        Some(_) => match sse::payload(body) {
            sse::Payload::Json(json) => objects(json),
            sse::Payload::Events => Payload::Events(Events { list: sse::frames(body).collect(), ..Events::default() }),
            sse::Payload::Neither => {
                Payload::Neither(format!("found {}, expected an answer in JSON or a stream of events", glimpse(body)))
            }
        },
    }
}

/// One object, or several on separate lines.
fn objects(body: &[u8]) -> Payload<'_> {
    match serde_json::from_slice::<&serde_json::value::RawValue>(body) {
        Ok(_) => Payload::Json(body),
        Err(_) if is_followed(body) => Payload::Events(lines(body)),
        Err(error) => Payload::Neither(format!("answer is no JSON: {}", json_reason(&error))),
    }
}

/// Whether another object begins on a later line.
fn is_followed(body: &[u8]) -> bool {
    let Ok(end) = walk_value(body, 0) else { return false };
    let next = skip_space(body, end);
    body.get(next) == Some(&b'{') && body.get(end..next).is_some_and(|gap| gap.contains(&b'\n'))
}

fn lines(body: &[u8]) -> Events<'_> {
    let whole = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    events(whole.collect(), None)
}

fn list(body: &[u8]) -> Events<'_> {
    let (mut found, mut cut) = (Vec::new(), None);
    for element in ranges(body, 0) {
        match element {
            Ok(range) => found.extend(body.get(range)),
            Err(broken) => cut = Some(broken.what),
        }
    }
    events(found, cut)
}

fn events(found: Vec<&[u8]>, cut: Option<String>) -> Events<'_> {
    let count = found.len();
    let event = |(i, data)| Event { data: Cow::Borrowed(data), last: i + 1 == count };
    Events { list: found.into_iter().enumerate().map(event).collect(), faults: Vec::new(), cut }
}
