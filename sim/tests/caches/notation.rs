//! The short notation of the corpus: one line a block.

use forkcast_sim::wire::{BlockKind, Content, Level, Role, Ttl};

use super::script::ttl;

/// A block, or one of a range.
#[derive(Clone, Debug)]
pub struct Line {
    /// Level.
    pub level: Level,
    /// Kind.
    pub kind: BlockKind,
    /// Its name is its content: equal names are equal blocks.
    pub name: String,
    /// Its tokens.
    pub tokens: u64,
    /// Its breakpoint.
    pub marker: Option<Ttl>,
}

impl Line {
    /// The block as the arena wants it.
    pub fn content(&self) -> Content<'_> {
        let role = if self.level == Level::Messages { Role::User } else { Role::None };
        Content { level: self.level, role, kind: self.kind, bytes: self.name.as_bytes() }
    }
}

/// Reads `level kind name tokens [ttl]`, ranges spread out.
pub fn lines(texts: &[String]) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for text in texts {
        let bad = || format!("\"{text}\": expected `level kind name tokens [ttl]`");
        let words: Vec<&str> = text.split(' ').collect();
        let ([level, kind, name, tokens] | [level, kind, name, tokens, _]) = words[..] else { return Err(bad()) };
        let marker = words.get(4).map(|word| ttl(word).ok_or_else(bad)).transpose()?;
        let (level, kind) = (named(&LEVELS, level).ok_or_else(bad)?, named(&KINDS, kind).ok_or_else(bad)?);
        let tokens = tokens.parse().map_err(|_| bad())?;
        let names = names(name).ok_or_else(bad)?;
        lines.extend(names.into_iter().map(|name| Line { level, kind, name, tokens, marker: None }));
        if let Some(last) = lines.last_mut() {
            last.marker = marker;
        }
    }
    Ok(lines)
}

/// Reads `name ttl` and marks that block.
pub fn mark(lines: &mut [Line], text: &str) -> Result<(), String> {
    let bad = || format!("\"{text}\": expected `name ttl` of an earlier block");
    let (name, word) = text.split_once(' ').ok_or_else(bad)?;
    let line = lines.iter_mut().rfind(|line| line.name == name).ok_or_else(bad)?;
    line.marker = Some(ttl(word).ok_or_else(bad)?);
    Ok(())
}

/// `b3..b5` is `b3`, `b4`, `b5`.
fn names(range: &str) -> Option<Vec<String>> {
    let Some((first, last)) = range.split_once("..") else { return Some(vec![range.to_owned()]) };
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let from: u32 = first.strip_prefix(stem)?.parse().ok()?;
    let to: u32 = last.strip_prefix(stem)?.parse().ok()?;
    (from <= to).then(|| (from..=to).map(|number| format!("{stem}{number}")).collect())
}

const LEVELS: [(&str, Level); 3] = [("tools", Level::Tools), ("system", Level::System), ("messages", Level::Messages)];

const KINDS: [(&str, BlockKind); 8] = [
    ("tool", BlockKind::Tool),
    ("text", BlockKind::Text),
    ("thinking", BlockKind::Thinking),
    ("tool_use", BlockKind::ToolUse),
    ("tool_result", BlockKind::ToolResult),
    ("media", BlockKind::Media),
    ("server_tool", BlockKind::ServerTool),
    ("keys", BlockKind::Parameters),
];

fn named<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}
