//! Sizes by a tokenizer: the interface of counters, and how counts become sizes of prefixes.
//!
//! The counters themselves, with their vocabularies, are outside this crate.

use std::fmt;

use super::block::{BlockId, Blocks, Content};
use super::index::Index;
use super::intake::Wire;
use super::json;
use super::level::{Level, Place};
use super::model::{ModelId, Tokenizer};
use super::request::Request;

/// Counts tokens of blocks, and of the frame that a provider adds around them.
pub trait TokenCounter: fmt::Debug + Send + Sync {
    /// Tokens of one block alone. The same block always has the same tokens.
    fn block_tokens(&self, tokenizer: Tokenizer, content: Content<'_>) -> u64;

    /// Tokens of a request besides its blocks.
    fn frame_tokens(&self, frame: &Frame) -> FrameTokens;
}

/// Facts that decide how many tokens a request has besides its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The model, if it is in the table.
    pub model: Option<ModelId>,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Whether tools are offered, and whether the model may choose.
    pub tools: ToolUse,
    /// Thinking is switched on, with a budget or adaptively.
    pub thinking: bool,
}

/// Whether tools are offered, and whether the model may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolUse {
    /// No tools.
    Absent,
    /// `tool_choice` is `auto`, `none` or absent.
    Free,
    /// `tool_choice` is `any` or names a tool.
    Forced,
}

/// Tokens that a provider adds, by their position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTokens {
    /// Before the first block: a part of every request, and the instructions for tools.
    pub head: u64,
    /// Around the blocks of each message.
    pub message: u64,
    /// After the last block.
    pub tail: u64,
}

impl Frame {
    /// The frame of `request`, whose model has `tokenizer`.
    pub fn of(request: &Request, wire: &Wire, tokenizer: Tokenizer) -> Self {
        let offered = request.places.first().is_some_and(|place| place.level == Level::Tools && !place.keys)
            || has_system_tool(request, wire);
        let choice = request.envelope_value("tool_choice").and_then(|choice| json::member(choice, b"\"type\""));
        let forced = matches!(choice, Some(b"\"any\"" | b"\"tool\""));
        let thinking = request.envelope_value("thinking").and_then(|thinking| json::member(thinking, b"\"type\""));
        Self {
            model: request.resolved.map(|resolved| resolved.id),
            tokenizer,
            tools: match (offered, forced) {
                (false, _) => ToolUse::Absent,
                (true, false) => ToolUse::Free,
                (true, true) => ToolUse::Forced,
            },
            thinking: matches!(thinking, Some(b"\"enabled\"" | b"\"adaptive\"")),
        }
    }
}

/// Web search is among the parameters of the system level, but counts as a tool.
fn has_system_tool(request: &Request, wire: &Wire) -> bool {
    let head = Place::head(Level::System);
    // Levels come in order, so the search ends at the first message: its cost is that of the levels above.
    let at = request.places.iter().take_while(|place| place.level <= Level::System).position(|place| *place == head);
    let block = at.and_then(|at| wire.prefixes.block(request.nodes[at]));
    block.is_some_and(|block| json::member(wire.blocks.bytes(block), b"\"web_search\"").is_some())
}

/// Cached counts: each block is counted once for each tokenizer, however many requests contain it.
#[derive(Clone, Debug, Default)]
pub struct CountedBlocks {
    tokens: Index<(BlockId, Tokenizer), u64>,
}

impl CountedBlocks {
    /// Tokens of a block of `blocks`, which must be the same for all calls.
    pub fn tokens(&mut self, counter: &dyn TokenCounter, tokenizer: Tokenizer, blocks: &Blocks, block: BlockId) -> u64 {
        let content = Content {
            level: blocks.level(block),
            role: blocks.role(block),
            kind: blocks.kind(block),
            bytes: blocks.bytes(block),
        };
        *self.tokens.get_or_insert_with((block, tokenizer), || counter.block_tokens(tokenizer, content))
    }

    /// Tokens of each prefix of `request`, for a model with this `tokenizer`, shortest first. The frame before the
    /// first block counts as part of that block, the frame around a message as part of the message's first block.
    pub fn cumulative(
        &mut self,
        counter: &dyn TokenCounter,
        tokenizer: Tokenizer,
        request: &Request,
        wire: &Wire,
    ) -> Vec<u64> {
        let frame = counter.frame_tokens(&Frame::of(request, wire, tokenizer));
        let mut sum = frame.head;
        let mut message = None;
        let mut cumulative = Vec::with_capacity(request.nodes.len());
        for (node, place) in request.nodes.iter().zip(&request.places) {
            let begins =
                place.level == Level::Messages && place.item != Place::LEVEL_HEAD && message != Some(place.item);
            if begins {
                message = Some(place.item);
                sum += frame.message;
            }
            if let Some(block) = wire.prefixes.block(*node) {
                sum += self.tokens(counter, tokenizer, &wire.blocks, block);
            }
            cumulative.push(sum);
        }
        if let Some(last) = cumulative.last_mut() {
            *last += frame.tail;
        }
        cumulative
    }
}
