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
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Counts the bytes, and looks at none of them.
struct Length(u64);

impl Sink for Length {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len() as u64;
    }
}

impl Draft {
    /// The body as it is sent. Levels without an element are left out, but for `messages`.
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(usize::try_from(self.body_bytes()).unwrap_or(0));
        self.render(&mut body);
        body
    }

    /// How many bytes the body has.
    pub fn body_bytes(&self) -> u64 {
        let mut length = Length(0);
        self.render(&mut length);
        length.0
    }

    fn render(&self, out: &mut impl Sink) {
        out.put(b"{\"model\":");
        put_string(&self.model, out);
        out.put(b",\"messages\":[");
        for (item, message) in self.messages.iter().enumerate() {
            out.put(if item == 0 { b"" } else { b"," });
            self.message(item, message, out);
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

    fn message(&self, item: usize, message: &Message, out: &mut impl Sink) {
        out.put(b"{\"role\":\"");
        out.put(message.role.name().as_bytes());
        out.put(b"\",\"content\":[");
        for (index, piece) in message.content.iter().enumerate() {
            out.put(if index == 0 { b"" } else { b"," });
            put_piece(piece, self.marked(Level::Messages, item, index), out);
        }
        out.put(b"]}");
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
