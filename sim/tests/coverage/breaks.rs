//! Edits that break one behaviour each (`sim/coverage/breaks.toml`).

use std::fs;

use forkcast_fixtures::workspace;
use serde::Deserialize;

/// An edit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// The behaviours that it breaks.
    pub ids: Vec<String>,
    /// The file.
    pub file: String,
    /// The text around `old` that occurs once in the file; without it `old` itself does.
    pub at: Option<String>,
    /// What is replaced: an expression, or statements if it ends with a line.
    pub old: String,
    /// What replaces it.
    pub new: String,
}

#[derive(Deserialize)]
struct Table {
    r#break: Vec<Break>,
}

/// All edits.
pub fn all() -> Vec<Break> {
    let text = fs::read_to_string(workspace().join("sim/coverage/breaks.toml")).expect("the table");
    toml::from_str::<Table>(&text).expect("a table of edits").r#break
}

impl Break {
    /// Where `old` begins in the text of the file; `None` if that is not clear.
    pub fn place(&self, text: &str) -> Option<usize> {
        let around = self.at.as_deref().unwrap_or(&self.old);
        let found = once(text, around)?;
        Some(found + once(around, &self.old)?)
    }
}

fn once(text: &str, wanted: &str) -> Option<usize> {
    text.find(wanted).filter(|_| text.matches(wanted).count() == 1)
}
