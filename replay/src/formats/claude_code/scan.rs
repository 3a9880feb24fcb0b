//! A cursor over the JSON of one line. What nobody asks for is jumped over, nothing is copied, and nesting costs a counter.
//!
//! It is lenient: of a value that is jumped over only its end is looked for. A quote inside a string is found by looking for
//! quotes alone and counting the backslashes in front, since transcripts are full of escaped line ends.

use super::super::text::glimpse;

/// Where a line stopped being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// Offset of the first byte that does not fit.
    pub at: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl Broken {
    /// What was found and what was expected.
    pub fn told(self, line: &[u8]) -> String {
        format!("found {}, expected {}", glimpse(line.get(self.at..).unwrap_or_default()), self.expected)
    }
}

/// A place in a line.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// At an offset of `bytes`.
    pub const fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How far it has come.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// What stands between `start` and here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Steps into the object or list that stands here; anything else is jumped over, and there is nothing to step into.
    pub fn enter(&mut self, open: u8) -> Result<bool, Broken> {
        if self.peek() == Some(open) {
            self.at += 1;
            return Ok(true);
        }
        self.skip()?;
        Ok(false)
    }

    /// The next key of the object that was stepped into, as written; `None` behind its last member.
    pub fn key(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        if !self.more(b'{', b'}', "`,` or `}`")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.broken("a key in quotes"));
        }
        let key = self.quoted()?;
        if self.peek() != Some(b':') {
            return Err(self.broken("`:` after a key"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Whether another element of the list that was stepped into stands here.
    pub fn element(&mut self) -> Result<bool, Broken> {
        self.more(b'[', b']', "`,` or `]`")
    }

    /// What stands between the quotes of the string here, escapes as written; `None` for any other value.
    pub fn string(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(Some);
        }
        self.skip()?;
        Ok(None)
    }

    /// Jumps over the value that stands here and gives its bytes.
    pub fn skip(&mut self) -> Result<&'a [u8], Broken> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => {
                self.quoted()?;
            }
            Some(b'{' | b'[') => self.brackets()?,
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.word(),
            _ => return Err(self.broken("a JSON value")),
        }
        Ok(&self.bytes[start..self.at])
    }

    /// The next byte that is not white space; the cursor stands on it.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn more(&mut self, open: u8, close: u8, expected: &'static str) -> Result<bool, Broken> {
        // Directly behind the bracket there is no comma; no value ends with an opening bracket.
        let first = self.at > 0 && self.bytes[self.at - 1] == open;
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.broken(expected)),
        }
    }

    /// The inside of the string whose opening quote stands here.
    fn quoted(&mut self) -> Result<&'a [u8], Broken> {
        let start = self.at + 1;
        let mut from = start;
        loop {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(step) = memchr::memchr(b'"', rest) else {
                self.at = self.bytes.len();
                return Err(self.broken("the end of a string"));
            };
            let quote = from + step;
            let inside = &self.bytes[start..quote];
            if inside.last() != Some(&b'\\') || is_even(inside) {
                self.at = quote + 1;
                return Ok(inside);
            }
            from = quote + 1;
        }
    }

    fn brackets(&mut self) -> Result<(), Broken> {
        let mut open = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.quoted()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
        Err(self.broken("a closing bracket"))
    }

    fn word(&mut self) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while self.bytes.get(self.at).is_some_and(is_word) {
            self.at += 1;
        }
    }

    const fn broken(&self, expected: &'static str) -> Broken {
        Broken { at: self.at, expected }
    }
}

/// Whether an even number of backslashes ends `inside`, so that each one escapes another. Runs of different quotes do not
/// overlap, so all counting together is linear.
fn is_even(inside: &[u8]) -> bool {
    inside.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// A whole number as written.
pub(super) fn whole(raw: &[u8]) -> Option<u64> {
    if raw.is_empty() || raw.len() > 19 {
        return None;
    }
    raw.iter().try_fold(0_u64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}
