//! Frames of `application/vnd.amazon.eventstream`, the framing of Bedrock's streams.
//!
//! Source: Smithy specification, "Amazon Event Stream" (2.0): length of the frame and of its headers, their CRC-32, the
//! headers, the payload, the CRC-32 of all before it; numbers are big-endian. `InvokeModel` wraps each event once more, as
//! base64 under `bytes` (Bedrock API reference, `PayloadPart`).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forkcast_sim::outside::found;

use super::payload::{Event, Events};
use crate::formats::json::member_text;

/// Length of the two lengths and their checksum.
const PRELUDE: usize = 12;
/// Length of a checksum.
const CHECKSUM: usize = 4;
/// The type of a header whose value is text.
const TEXT: u8 = 7;

/// Whether a body begins with a frame; the checksum of the prelude proves it.
pub(crate) fn begins(body: &[u8]) -> bool {
    lengths(body).is_some()
}

/// The events of all frames.
pub(super) fn events(body: &[u8]) -> Events<'_> {
    let (mut events, mut rest, mut number) = (Events::default(), body, 0);
    while !rest.is_empty() && events.cut.is_none() {
        match frame(rest) {
            Ok((frame, behind)) => {
                take(frame, &mut events, number);
                rest = behind;
            }
            Err(why) => events.cut = Some(format!("frame {number}: {why}")),
        }
        number += 1;
    }
    if let Some(last) = events.list.last_mut() {
        last.last = true;
    }
    events
}

fn take<'a>(frame: Result<Frame<'a>, String>, events: &mut Events<'a>, number: usize) {
    match frame.and_then(Frame::event) {
        Ok(Content::Event(data)) => events.list.push(Event { data, last: false }),
        Ok(Content::Exception(name)) => events.cut = Some(format!("the provider sent {}", found(&name))),
        Err(why) => events.faults.push(format!("frame {number}: {why}")),
    }
}

struct Frame<'a> {
    headers: &'a [u8],
    payload: &'a [u8],
}

enum Content<'a> {
    Event(Cow<'a, [u8]>),
    Exception(String),
}

/// The lengths of frame and headers, if the prelude is complete and its checksum right.
fn lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let prelude = bytes.get(..PRELUDE)?;
    (crc32fast::hash(prelude.get(..8)?) == number(prelude, 8)?).then_some(())?;
    let (frame, headers) = (number(prelude, 0)? as usize, number(prelude, 4)? as usize);
    (frame >= PRELUDE + CHECKSUM && headers <= frame - PRELUDE - CHECKSUM).then_some((frame, headers))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

type Split<'a> = (Result<Frame<'a>, String>, &'a [u8]);

/// The first frame and the rest. A frame with a wrong checksum is damaged but has an end; with a wrong checksum of its
/// prelude it has none.
fn frame(bytes: &[u8]) -> Result<Split<'_>, String> {
    let (length, headers) = lengths(bytes).ok_or("found no prelude with a right checksum")?;
    let found = bytes.len();
    let whole = bytes.get(..length).ok_or_else(|| format!("found {found} of its {length} bytes"))?;
    let behind = &bytes[length..];
    let end = length - CHECKSUM;
    let (inner, checksum) = (&whole[..end], number(whole, end));
    if Some(crc32fast::hash(inner)) != checksum {
        return Ok((Err("its checksum is wrong".to_owned()), behind));
    }
    let (headers, payload) = inner[PRELUDE..].split_at(headers);
    Ok((Ok(Frame { headers, payload }), behind))
}

impl<'a> Frame<'a> {
    fn event(self) -> Result<Content<'a>, String> {
        let exception = self.header(":exception-type").or_else(|| self.header(":error-code"));
        if let Some(name) = exception {
            return Ok(Content::Exception(String::from_utf8_lossy(name).into_owned()));
        }
        if self.header(":event-type") != Some(b"chunk") {
            return Ok(Content::Event(Cow::Borrowed(self.payload)));
        }
        let packed = member_text(self.payload, "bytes").ok_or("found a chunk without `bytes`")?;
        let data = STANDARD.decode(packed.as_bytes()).map_err(|error| format!("`bytes` is no base64: {error}"))?;
        Ok(Content::Event(Cow::Owned(data)))
    }

    /// The text of a header. Headers of other types end the search: Bedrock sends none before these.
    fn header(&self, wanted: &str) -> Option<&'a [u8]> {
        let mut rest = self.headers;
        loop {
            let (&length, behind) = rest.split_first()?;
            let (name, behind) = behind.split_at_checked(usize::from(length))?;
            let (&kind, behind) = behind.split_first()?;
            let length = u16::from_be_bytes(behind.get(..2)?.try_into().ok()?);
            let (value, behind) = behind.get(2..)?.split_at_checked(usize::from(length))?;
            if kind != TEXT {
                return None;
            }
            if name == wanted.as_bytes() {
                return Some(value);
            }
            rest = behind;
        }
    }
}
