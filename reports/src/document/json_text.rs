//! JSON that is safe on a terminal too: invisible characters that `serde_json` does not escape are escaped. The data
//! are the same.

use std::io::{self, Write};

use forkcast_sim::outside::is_hidden;
use serde::Serialize;

/// Writes a value with line ends and indents.
pub(crate) fn pretty(target: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(Escaping(target), value).map_err(io::Error::from)
}

/// Writes a value on one line. A line is short: it is written as a whole, not word by word.
pub(crate) fn compact(target: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = Vec::with_capacity(LINE_BYTES);
    serde_json::to_writer(&mut line, value)?;
    Escaping(target).write_all(&line)
}

/// Most lines of a ledger are shorter.
const LINE_BYTES: usize = 2 << 10;

/// Hidden characters beyond ASCII occur only in strings, in which an escape has the same meaning.
fn is_left(c: char) -> bool {
    c > '~' && is_hidden(c)
}

struct Escaping<'a>(&'a mut dyn Write);

impl Write for Escaping<'_> {
    /// Writes all of it: `serde_json` passes complete texts, so no character is cut.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Most pieces have these characters alone.
        if bytes.iter().all(|byte| *byte <= b'~') {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains(is_left) => self.0.write_all(escaped(text).as_bytes())?,
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_left(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn hidden_characters_are_escapes_and_the_same_data() {
        let name = "a\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}ü";
        let mut text = Vec::new();
        compact(&mut text, &name).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "\"a\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41ü\"");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), name);
    }
}
