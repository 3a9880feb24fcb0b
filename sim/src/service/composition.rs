//! What a prompt is made of: tools, system prompt, conversation, results by tool, and what of each was read and written.

use std::sync::Arc;

use crate::outside::words;
use crate::wire::Usage;

words! {
    /// A kind of content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ContentKind {
        /// Definitions of tools.
        Tools = "tools",
        /// The system prompt.
        System = "system",
        /// What a transcript does not show: tools and system prompt.
        Hidden = "hidden",
        /// Messages of people and of the client.
        Input = "input",
        /// Texts of earlier answers.
        Answers = "answers",
        /// Earlier thinking.
        Thinking = "thinking",
        /// Calls of tools.
        Calls = "calls",
        /// Results of tools.
        Results = "results",
    }
}

/// A kind of content; of results the tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content {
    /// The kind.
    pub kind: ContentKind,
    /// The tool that gave a result, if known.
    pub tool: Option<Arc<str>>,
}

impl From<ContentKind> for Content {
    fn from(kind: ContentKind) -> Self {
        Self { kind, tool: None }
    }
}

/// Tokens of one kind of content in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// What it is.
    pub content: Content,
    /// Tokens that were read.
    pub read: u64,
    /// Tokens that were written.
    pub written: u64,
    /// Tokens that were neither.
    pub fresh: u64,
}

impl Portion {
    /// All of them.
    pub const fn tokens(&self) -> u64 {
        self.read + self.written + self.fresh
    }
}

/// A prompt by content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composition(pub Vec<Portion>);

impl Composition {
    /// A prompt of `blocks` in order, each with its place among `contents` and the tokens up to its end, as `usage` was
    /// billed: reading begins at the start, writing follows. Tokens that no block has count as the content at `rest`.
    pub fn new(
        blocks: impl IntoIterator<Item = (usize, u64)>,
        contents: &[Content],
        usage: &Usage,
        rest: usize,
    ) -> Self {
        let read = usage.cache_read_input_tokens;
        let cached = read + usage.cache_creation_input_tokens();
        let whole = usage.total_input_tokens();
        let portion = |content: &Content| Portion { content: content.clone(), read: 0, written: 0, fresh: 0 };
        let mut portions: Vec<Portion> = contents.iter().map(portion).collect();
        let mut start = 0;
        for (content, end) in blocks.into_iter().chain(std::iter::once((rest, whole))) {
            let end = end.clamp(start, whole);
            let portion = &mut portions[content];
            portion.read += within(start, end, 0, read);
            portion.written += within(start, end, read, cached);
            portion.fresh += within(start, end, cached, whole);
            start = end;
        }
        portions.retain(|portion| portion.tokens() > 0);
        Self(portions)
    }
}

/// How much of `start..end` is within `from..to`.
fn within(start: u64, end: u64, from: u64, to: u64) -> u64 {
    end.min(to).saturating_sub(start.max(from))
}

#[cfg(test)]
mod tests {
    use super::{Composition, Content, ContentKind};
    use crate::wire::Usage;

    #[test]
    fn portions_add_up_to_the_usage() {
        let contents = [ContentKind::Tools, ContentKind::Input, ContentKind::Results].map(Content::from);
        let usage =
            Usage { cache_read_input_tokens: 150, ephemeral_5m_input_tokens: 40, input_tokens: 10, ..Usage::default() };
        let blocks = [(0, 100), (1, 160), (2, 180), (1, 190)];
        let Composition(portions) = Composition::new(blocks, &contents, &usage, 1);
        let found: Vec<_> = portions.iter().map(|one| (one.content.kind, one.read, one.written, one.fresh)).collect();
        assert_eq!(
            found,
            [(ContentKind::Tools, 100, 0, 0), (ContentKind::Input, 50, 20, 10), (ContentKind::Results, 0, 20, 0)]
        );
        // Sizes beyond the usage are cut off.
        let Composition(portions) = Composition::new([(0, 500)], &contents, &usage, 1);
        assert_eq!((portions.len(), portions[0].tokens()), (1, 200));
    }
}
