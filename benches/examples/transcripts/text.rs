//! Text as it appears in JSON: words of an invented language, in lines like code, with escapes.

use rand_chacha::ChaCha8Rng;

use super::below;

/// Lines to choose from.
const LINES: usize = 20_000;

const SYLLABLES: [&str; 16] =
    ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "xa", "ze", "fo", "du", "gi", "ho", "pa"];

/// Lines of text, escaped for JSON, each with a line end.
pub struct Pool {
    lines: Vec<String>,
    /// How many times shorter all texts are.
    pub density: u64,
}

impl Pool {
    /// Generates the lines.
    pub fn new(rng: &mut ChaCha8Rng, density: u64) -> Self {
        Self { lines: (0..LINES).map(|_| line(rng)).collect(), density }
    }

    /// Appends at least `bytes` of consecutive text.
    pub fn push(&self, rng: &mut ChaCha8Rng, bytes: u64, out: &mut Vec<u8>) {
        let end = out.len() as u64 + bytes;
        let mut at = below(rng, self.lines.len() as u64) as usize;
        while (out.len() as u64) < end {
            out.extend_from_slice(self.lines[at].as_bytes());
            at = (at + 1) % self.lines.len();
        }
    }
}

fn word(rng: &mut ChaCha8Rng) -> String {
    (0..2 + below(rng, 3)).map(|_| SYLLABLES[below(rng, SYLLABLES.len() as u64) as usize]).collect()
}

fn line(rng: &mut ChaCha8Rng) -> String {
    let mut text = match below(rng, 3) {
        0 => "\\t".repeat(below(rng, 4) as usize),
        1 => format!("{:>6}\u{2192}", below(rng, 3000)),
        _ => " ".repeat(below(rng, 12) as usize),
    };
    for _ in 0..below(rng, 9) {
        let word = word(rng);
        match below(rng, 12) {
            0 => text.push_str(&format!("\\\"{word}\\\", ")),
            1 => text.push_str(&format!("{word}({{ {word}: 0x{:x} }}); ", below(rng, 65_536))),
            2 => text.push_str(&format!("/{word}/{word}.rs ")),
            _ => text.push_str(&format!("{word} ")),
        }
    }
    text.push_str("\\n");
    text
}
