//! Detects when the input of a tool call is complete, from its text alone and in one pass.

/// Follows the text of one JSON object and detects when it is closed (contract STREAM-06, STREAM-11).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments {
    depth: u32,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Arguments {
    /// Reads more of the text; returns whether the object is complete.
    pub fn take(&mut self, text: &str) -> bool {
        for byte in text.bytes() {
            self.step(byte);
        }
        self.closed
    }

    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.closed |= self.depth == 0;
            }
            _ => {}
        }
    }
}
