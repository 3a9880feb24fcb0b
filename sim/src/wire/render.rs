//! From a draft to the bytes that are sent.
//!
//! Keys have the order of the client of 2026: `model`, `messages`, `system`, `tools`, then the rest (`clients.md` 1,
//! client version 2.1.330, 2026-11).

use super::draft::{Draft, Message};
use super::json;
use super::level::Level;
use super::marker::Ttl;
use super::piece::Piece;

impl Draft {
    /// The body as it is sent. Empty levels are left out, except `messages`.
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.render(&mut body);
        body
    }

    fn render(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"model\":");
        put_string(&self.model, out);
        out.extend_from_slice(b",\"messages\":[");
        for (item, message) in self.messages.iter().enumerate() {
            if item > 0 {
                out.push(b',');
            }
            put_message(message, |index| self.marked(Level::Messages, item, index), out);
        }
        out.push(b']');
        self.pieces(Level::System, &self.system, out);
        self.pieces(Level::Tools, &self.tools, out);
        for (key, value) in self.sent_parameters() {
            out.push(b',');
            put_string(key, out);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
        out.push(b'}');
    }

    fn pieces(&self, level: Level, pieces: &[Piece], out: &mut Vec<u8>) {
        if pieces.is_empty() {
            return;
        }
        out.extend_from_slice(b",\"");
        out.extend_from_slice(level.name().as_bytes());
        out.extend_from_slice(b"\":[");
        for (item, piece) in pieces.iter().enumerate() {
            if item > 0 {
                out.push(b',');
            }
            put_piece(piece, self.marked(level, item, 0), out);
        }
        out.push(b']');
    }
}

fn put_message(message: &Message, marked: impl Fn(usize) -> Option<Ttl>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(message.role.name().as_bytes());
    out.extend_from_slice(b"\",\"content\":[");
    for (index, piece) in message.content.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put_piece(piece, marked(index), out);
    }
    out.extend_from_slice(b"]}");
}

fn put_string(text: &str, out: &mut Vec<u8>) {
    let mut spelled = Vec::with_capacity(text.len() + 2);
    json::push_string(text, &mut spelled);
    out.extend_from_slice(&spelled);
}

/// The piece, with its breakpoint as the last key.
fn put_piece(piece: &Piece, marked: Option<Ttl>, out: &mut Vec<u8>) {
    let json = piece.json();
    let (Some(ttl), Some(open)) = (marked, json.strip_suffix('}')) else {
        out.extend_from_slice(json.as_bytes());
        return;
    };
    out.extend_from_slice(open.as_bytes());
    // No comma after the bracket of an object without keys.
    out.extend_from_slice(if open.trim_end() == "{" { b"" } else { b"," });
    out.extend_from_slice(match ttl {
        Ttl::FiveMinutes => b"\"cache_control\":{\"type\":\"ephemeral\"}}",
        Ttl::OneHour => b"\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}",
    });
}
