//! A cursor over JSON text, used for bodies, recordings and transcripts alike.
//!
//! It never recurses, so a million nested brackets cost a loop and no stack. It finds the borders of values; serde
//! checks once for each new value whether the text between them is valid JSON.

/// Offset at which a scan failed, and the expected text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// Offset in bytes.
    pub offset: usize,
    /// The expected text.
    pub expected: &'static str,
}

/// Expected by a scan that reached the end of the text within a string.
pub const CLOSING_QUOTE: &str = "a closing quote";

/// Expected by a scan that reached the end of the text within brackets.
pub const CLOSING_BRACKET: &str = "a closing bracket";

/// A cursor over JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    pub const fn new(text: &'a [u8]) -> Self {
        Self::at(text, 0)
    }

    /// A scanner at an offset of `text`.
    pub const fn at(text: &'a [u8], offset: usize) -> Self {
        Self { text, at: offset, depth: 0 }
    }

    /// Offset of the next byte.
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// How deep brackets were nested in the value that was consumed last.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    const fn error(&self, expected: &'static str) -> ScanError {
        ScanError { offset: self.at, expected }
    }

    /// The text that is not consumed yet.
    pub fn rest(&self) -> &'a [u8] {
        debug_assert!(self.at <= self.text.len(), "the scanner stays in its text");
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text consumed since an offset.
    #[inline]
    pub fn since(&self, offset: usize) -> &'a [u8] {
        &self.text[offset..self.at]
    }

    /// Consumes `len` bytes that the caller knows, and returns them.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, _) = self.rest().split_at(len.min(self.rest().len()));
        self.at += taken.len();
        taken
    }

    /// The next byte that is not white space, not consumed.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Consumes `byte` (after white space) or reports that it is missing.
    ///
    /// # Errors
    /// When another byte, or nothing, follows.
    #[inline]
    pub fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), ScanError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.error(expected))
    }

    /// Enters the object or list that begins here with `open`. Any other value is consumed, and `false` is returned.
    ///
    /// # Errors
    /// When no value begins here.
    #[inline]
    pub fn enter(&mut self, open: u8) -> Result<bool, ScanError> {
        if self.peek() == Some(open) {
            self.at += 1;
            return Ok(true);
        }
        self.value().map(|_| false)
    }

    /// Consumes the next key of the current object, and returns it as written, without quotes; `None` after the last.
    ///
    /// # Errors
    /// When something else follows.
    #[inline]
    pub fn key(&mut self) -> Result<Option<&'a [u8]>, ScanError> {
        Ok(self.quoted_key()?.map(|quoted| &quoted[1..quoted.len() - 1]))
    }

    /// The same with its quotes.
    pub(super) fn quoted_key(&mut self) -> Result<Option<&'a [u8]>, ScanError> {
        if !self.more(b'{', b'}', "`,` or `}`")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.error("a key in quotes"));
        }
        let key = self.quoted()?;
        self.expect(b':', "`:` after a key")?;
        Ok(Some(key))
    }

    /// Whether another element of the current list follows.
    ///
    /// # Errors
    /// When neither an element nor the end of the list follows.
    #[inline]
    pub fn element(&mut self) -> Result<bool, ScanError> {
        self.more(b'[', b']', "`,` or `]`")
    }

    #[inline]
    fn more(&mut self, open: u8, close: u8, expected: &'static str) -> Result<bool, ScanError> {
        // Directly after the opening bracket there is no comma; no value ends with an opening bracket.
        let first = self.at.checked_sub(1).is_some_and(|before| self.text[before] == open);
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
            _ => Err(self.error(expected)),
        }
    }

    /// Consumes one value. Returns the text between the quotes of a string, as written; `None` for any other value.
    ///
    /// # Errors
    /// See [`Self::value`].
    #[inline]
    pub fn string(&mut self) -> Result<Option<&'a [u8]>, ScanError> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(|quoted| Some(&quoted[1..quoted.len() - 1]));
        }
        self.value().map(|_| None)
    }

    /// Consumes one value and returns its raw text.
    ///
    /// # Errors
    /// When the text ends inside the value or no value begins here.
    #[inline]
    pub fn value(&mut self) -> Result<&'a [u8], ScanError> {
        let first = self.peek();
        let start = self.at;
        self.depth = 0;
        match first {
            Some(b'"') => return self.quoted(),
            Some(b'{' | b'[') => self.skip_nested()?,
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.skip_word(),
            _ => return Err(self.error("a JSON value")),
        }
        Ok(&self.text[start..self.at])
    }

    /// Consumes the string that begins here, and returns it with its quotes.
    fn quoted(&mut self) -> Result<&'a [u8], ScanError> {
        let start = self.at;
        let mut from = start + 1;
        // From quote to quote: texts have many escapes and few quotes.
        while let Some(found) = first_quote(&self.text[from..]) {
            let quote = from + found;
            from = quote + 1;
            if self.text[quote - 1] != b'\\' || !self.is_escaped(start, quote) {
                self.at = from;
                return Ok(&self.text[start..from]);
            }
        }
        Err(self.error(CLOSING_QUOTE))
    }

    /// Whether the quote of the string that begins at `start` is after an odd number of backslashes.
    #[cold]
    fn is_escaped(&self, start: usize, quote: usize) -> bool {
        self.text[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    }

    fn skip_nested(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        let (mut open, mut deepest) = (0_usize, 0);
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    self.quoted()?;
                    continue;
                }
                b'{' | b'[' => {
                    open += 1;
                    deepest = deepest.max(open);
                }
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                self.depth = deepest;
                return Ok(());
            }
        }
        self.at = start;
        Err(self.error(CLOSING_BRACKET))
    }

    fn skip_word(&mut self) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while self.text.get(self.at).is_some_and(is_word) {
            self.at += 1;
        }
    }
}

/// The offset of the first quote. Keys are short: their bytes are looked at as one number, since the search for long texts takes
/// longer to begin.
fn first_quote(text: &[u8]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 255;
    let Some(short) = text.first_chunk::<16>() else { return memchr::memchr(b'"', text) };
    // A byte is zero where there is a quote; the lowest byte that is zero gets its highest bit set, and none below it does.
    let other = u128::from_le_bytes(*short) ^ (ONES * b'"' as u128);
    let quotes = other.wrapping_sub(ONES) & !other & (ONES << 7);
    if quotes != 0 {
        return Some(quotes.trailing_zeros() as usize / 8);
    }
    memchr::memchr(b'"', &text[short.len()..]).map(|at| short.len() + at)
}

#[cfg(test)]
mod tests {
    use super::first_quote;

    #[test]
    fn the_first_quote_is_found_wherever_it_is() {
        // Bytes that differ from a quote in one bit, or by one.
        for other in [b'!', b'#', b' ', b'\xa2', 0, 0xff] {
            for len in 0..40 {
                let mut text = vec![other; len];
                assert_eq!(first_quote(&text), None, "{other} {len}");
                for at in (0..len).rev() {
                    text[at] = b'"';
                    assert_eq!(first_quote(&text), Some(at), "{other} {len}");
                }
            }
        }
    }
}
