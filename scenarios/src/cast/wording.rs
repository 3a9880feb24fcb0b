//! The content of recorded blocks, as far as a cast may show it.

use std::collections::BTreeMap;

use forkcast_replay::transcript::Wording;
use forkcast_sim::time::Instant;
use serde_json::Value;

/// How much of a recording's text a cast contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// None: texts are numbered.
    None,
    /// None, but the length of each text is given.
    Sizes,
    /// All of it.
    #[default]
    Full,
}

impl Content {
    /// All of them, by name.
    pub const WORDS: [(&'static str, Self); 3] = [("none", Self::None), ("sizes", Self::Sizes), ("full", Self::Full)];
}

/// Replaces texts unless all content is shown. Equal texts have equal replacements.
#[derive(Debug, Default)]
pub(super) struct Veil {
    content: Content,
    numbers: BTreeMap<String, usize>,
}

impl Veil {
    pub fn new(content: Content) -> Self {
        Self { content, numbers: BTreeMap::new() }
    }

    /// The text as it may be shown. `what` names its kind.
    pub fn text(&mut self, what: &str, text: &str) -> String {
        if self.content == Content::Full {
            return text.to_owned();
        }
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(text.to_owned()).or_insert(next);
        match self.content {
            Content::Sizes => format!("({what} {number}, {} bytes)", text.len()),
            Content::None | Content::Full => format!("({what} {number})"),
        }
    }

    /// The input of a call as it may be shown.
    pub fn input(&mut self, input: &Value) -> Value {
        match (self.content, input) {
            (Content::Full, Value::Object(_)) => input.clone(),
            _ => Value::Object(serde_json::Map::new()),
        }
    }
}

/// A recorded block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub at: Option<Instant>,
    pub said: Said,
}

/// The kinds of recorded blocks.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Text(String),
    Thinking,
    Call { id: String, tool: String, input: Value },
    Result { id: String, text: String, failed: bool },
    Other,
}

impl Block {
    /// Reads a block; what cannot be read is of another kind.
    pub fn of(wording: &Wording) -> Self {
        let said = serde_json::from_str(&wording.json).map_or(Said::Other, |json: Value| said(&json));
        Self { at: wording.at, said }
    }
}

fn said(json: &Value) -> Said {
    let text = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(whole) = json.as_str() {
        return Said::Text(whole.to_owned());
    }
    let known = match json.get("type").and_then(Value::as_str) {
        Some("text") => text("text").map(Said::Text),
        Some("thinking" | "redacted_thinking") => Some(Said::Thinking),
        Some("tool_use") => text("id").zip(text("name")).map(|(id, tool)| {
            let input = json.get("input").map_or(Value::Null, Value::clone);
            Said::Call { id, tool, input }
        }),
        Some("tool_result") => text("tool_use_id").map(|id| Said::Result {
            id,
            text: json.get("content").map_or_else(String::new, plain),
            failed: json.get("is_error").and_then(Value::as_bool) == Some(true),
        }),
        Some("queued_command") => json.get("prompt").map(|prompt| Said::Text(plain(prompt))),
        _ => None,
    };
    known.unwrap_or(Said::Other)
}

/// The text of a content: a string, or the texts of its blocks.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The text between two tags.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}
