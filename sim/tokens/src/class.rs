//! Classes of content: if only the counts of a tokenizer are known, it is compared with o200k by class.

use forkcast_sim::words;

words! {
    /// The class of a text, as far as tokenizers differ in it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
    pub enum Class {
        /// Sentences in Latin letters.
        Prose = "prose",
        /// Programs, shell output, markup.
        Code = "code",
        /// JSON and text with similarly dense punctuation: arguments of tool calls, records, logs.
        Json = "json",
        /// Mostly letters of other scripts.
        OtherScript = "other_script",
        /// Tool definitions: JSON in the body, but spelled differently in the model's prompt.
        Tool = "tool",
    }
}

impl Class {
    /// The class of a free text, from its first [`SAMPLE_BYTES`] only.
    pub fn of(text: &str) -> Self {
        let census = Census::of(text);
        if census.other_letters * 3 >= census.latin_letters + census.other_letters && census.other_letters > 0 {
            return Self::OtherScript;
        }
        let visible = census.visible.max(1);
        let opens_json = matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['));
        // Shares in percent, chosen between the values of our sources, our pages and JSON fixtures
        // (`tests/classes.rs`).
        let json_marks = census.json_marks * 100 / visible;
        let code_marks = census.code_marks * 100 / visible;
        match () {
            () if (opens_json && json_marks >= 8) || json_marks >= 18 => Self::Json,
            () if code_marks >= 9 => Self::Code,
            () => Self::Prose,
        }
    }
}

/// Number of bytes that determine the class.
pub const SAMPLE_BYTES: usize = 16 << 10;

#[derive(Default)]
struct Census {
    visible: usize,
    latin_letters: usize,
    other_letters: usize,
    json_marks: usize,
    code_marks: usize,
}

impl Census {
    fn of(text: &str) -> Self {
        let mut census = Self::default();
        for (at, c) in text.char_indices() {
            if at >= SAMPLE_BYTES {
                break;
            }
            census.visible += usize::from(!c.is_whitespace());
            match c {
                '"' | '{' | '}' | ':' | '\\' => census.json_marks += 1,
                _ => {}
            }
            match c {
                '(' | ')' | '{' | '}' | ';' | '=' | '<' | '>' | '_' | '/' | '|' | '[' | ']' | '#' | '$' | '&' | '*'
                | '\\' | '+' | '@' | '"' | '`' => census.code_marks += 1,
                // Up to the last letter of extended Latin.
                c if c.is_alphabetic() && c <= '\u{24f}' => census.latin_letters += 1,
                c if c.is_alphabetic() => census.other_letters += 1,
                _ => {}
            }
        }
        census
    }
}
