//! From a draft to the bytes that are sent, and to their length alone.
//!
//! Keys stand in the order of the client of 2026: `model`, `messages`, `system`, `tools`, then the rest
//! (`clients.md` 1, client version 2.1.330, 2026-11).

use super::draft::{Draft, Message};
use super::json;
use super::level::Level;
use super::marker::Ttl;
use super::piece::Piece;

/// What takes the bytes of a body in their order.
trait Sink {
    fn put(&mut self, bytes: &[u8]);

    /// Takes the unmarked message `item` without being given its bytes, if it knows them.
    fn skip(&mut self, _item: usize) -> bool {
        false
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Counts the bytes, and looks at none of them.
#[derive(Default)]
struct Length<'a> {
    bytes: u64,
    /// Lengths of the first messages.
    messages: &'a [u64],
}

impl Sink for Length<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
    }

    fn skip(&mut self, item: usize) -> bool {
        let Some(bytes) = self.messages.get(item) else { return false };
        self.bytes += bytes;
        true
    }
}

impl Message {
    /// How many bytes the message has in a body, without breakpoints.
    pub(super) fn body_bytes(&self) -> u64 {
        let mut length = Length::default();
        put_message(self, |_| None, &mut length);
        length.bytes
    }
}

impl Draft {
    /// The body as it is sent. Levels without an element are left out, but for `messages`.
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.body_bytes() as usize);
        self.render(&mut body);
        body
    }

    /// How many bytes the body has.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes_knowing(&[])
    }

    /// How many bytes the body has, where these are the lengths of its first messages without breakpoints.
    pub(super) fn body_bytes_knowing(&self, messages: &[u64]) -> u64 {
        let mut length = Length { bytes: 0, messages };
        self.render(&mut length);
        length.bytes
    }

    fn render(&self, out: &mut impl Sink) {
        out.put(b"{\"model\":");
        put_string(&self.model, out);
        out.put(b",\"messages\":[");
        for (item, message) in self.messages.iter().enumerate() {
            out.put(if item == 0 { b"" } else { b"," });
            let marked = self.marks.iter().any(|mark| (mark.level, mark.item) == (Level::Messages, item));
            if marked || !out.skip(item) {
                put_message(message, |index| self.marked(Level::Messages, item, index), out);
            }
        }
        out.put(b"]");
        self.pieces(Level::System, &self.system, out);
        self.pieces(Level::Tools, &self.tools, out);
        for (key, value) in self.sent_parameters() {
            out.put(b",");
            put_string(key, out);
            out.put(b":");
            out.put(value.as_bytes());
        }
        out.put(b"}");
    }

    fn pieces(&self, level: Level, pieces: &[Piece], out: &mut impl Sink) {
        if pieces.is_empty() {
            return;
        }
        out.put(b",\"");
        out.put(level.name().as_bytes());
        out.put(b"\":[");
        for (item, piece) in pieces.iter().enumerate() {
            out.put(if item == 0 { b"" } else { b"," });
            put_piece(piece, self.marked(level, item, 0), out);
        }
        out.put(b"]");
    }
}

fn put_message(message: &Message, marked: impl Fn(usize) -> Option<Ttl>, out: &mut impl Sink) {
    out.put(b"{\"role\":\"");
    out.put(message.role.name().as_bytes());
    out.put(b"\",\"content\":[");
    for (index, piece) in message.content.iter().enumerate() {
        out.put(if index == 0 { b"" } else { b"," });
        put_piece(piece, marked(index), out);
    }
    out.put(b"]}");
}

fn put_string(text: &str, out: &mut impl Sink) {
    let mut spelled = Vec::with_capacity(text.len() + 2);
    json::push_string(text, &mut spelled);
    out.put(&spelled);
}

/// The piece, with its breakpoint as the last key.
fn put_piece(piece: &Piece, marked: Option<Ttl>, out: &mut impl Sink) {
    let json = piece.json();
    let (Some(ttl), Some(open)) = (marked, json.strip_suffix('}')) else {
        out.put(json.as_bytes());
        return;
    };
    out.put(open.as_bytes());
    // No comma behind the bracket of an object without keys.
    out.put(if open.trim_end() == "{" { b"" } else { b"," });
    out.put(match ttl {
        Ttl::FiveMinutes => b"\"cache_control\":{\"type\":\"ephemeral\"}}",
        Ttl::OneHour => b"\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}",
    });
}
