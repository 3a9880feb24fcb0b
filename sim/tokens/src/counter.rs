//! The counter: selects the counting rule for a tokenizer.

use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Content, Frame, FrameTokens, TokenCounter, ToolUse};
use forkcast_sim::words;

use crate::chat;
use crate::content::makeup;
use crate::factors::{self, BUILT_IN, Factors, Generation};
use crate::vocabulary::Vocabulary;

words! {
    /// The quality of a count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Quality: word {
        /// The vendor's own vocabulary. Framing is documented only for plain messages, so tools and images are estimates.
        Exact = "exact",
        /// Scaled to the billed tokens of recorded requests.
        Calibrated = "calibrated",
        /// Another vendor's vocabulary, unscaled: its error has not been measured.
        Borrowed = "borrowed",
    }
}

impl Quality {
    /// The quality for text of `tokenizer`.
    pub const fn of(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::O200k | Tokenizer::Cl100k => Self::Exact,
            Tokenizer::Claude | Tokenizer::Claude47 => Self::Calibrated,
            Tokenizer::Other => Self::Borrowed,
        }
    }
}

/// The counter of this crate.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Factors of the estimate for Claude.
    pub factors: Factors,
}

impl Default for Counter {
    fn default() -> Self {
        Self { factors: BUILT_IN }
    }
}

impl TokenCounter for Counter {
    fn block_tokens(&self, tokenizer: Tokenizer, content: Content<'_>) -> u64 {
        let vocabulary = if tokenizer == Tokenizer::Cl100k { Vocabulary::Cl100k } else { Vocabulary::O200k };
        let makeup = makeup(content, tokenizer, vocabulary);
        match Generation::of(tokenizer) {
            Some(generation) => self.factors.tokens(generation, &makeup),
            None => makeup.text_tokens() + makeup.fixed,
        }
    }

    fn frame_tokens(&self, frame: &Frame) -> FrameTokens {
        match Generation::of(frame.tokenizer) {
            Some(_) => factors::frame(frame),
            None => FrameTokens {
                head: if frame.tools == ToolUse::Absent { 0 } else { chat::TOOLS_TOKENS },
                message: chat::MESSAGE_TOKENS,
                tail: chat::TAIL_TOKENS,
            },
        }
    }
}
