//! Assembles a message from the events of its stream (contract STREAM-03..09).

use std::rc::Rc;

use serde_json::Value;

use super::arguments::Arguments;
use crate::agent::entry::{Entry, NamedCall, Nature, ToolUse};
use crate::model::{Delta, Event, Opened};
use crate::outside::complaint;
use crate::wire::{Message, Piece, Role, Usage};

/// A message that is being assembled.
#[derive(Debug)]
pub(super) struct Assembler {
    /// Id in transcripts, assigned at the start so that the message can be withdrawn.
    pub uuid: Rc<str>,
    blocks: Vec<Block>,
    usage: Usage,
}

/// A block that is being assembled (STREAM-04).
#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    /// Boxed, for most messages are texts, and thousands may arrive at a time.
    ToolUse(Box<Called>),
}

/// A tool call that is being assembled: its input is an empty string until its JSON is complete (STREAM-06).
#[derive(Debug)]
struct Called {
    id: Rc<str>,
    name: Rc<str>,
    caller: Option<Rc<str>>,
    text: String,
    arguments: Arguments,
    prepared: Option<Prepared>,
}

/// A call whose input has arrived.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// The call.
    pub tool_use: ToolUse,
    /// The error in its input; if set, the tool cannot be called.
    pub problem: Option<Rc<str>>,
}

/// The effect of an event.
#[derive(Debug)]
pub(super) enum Consequence {
    /// Data, or nothing.
    Data,
    /// A tool call began.
    Called { id: Rc<str>, name: Rc<str> },
    /// The arguments of a call are complete.
    Prepared(Prepared),
}

impl Assembler {
    /// A message with this id and initial usage.
    pub fn new(uuid: Rc<str>, usage: Usage) -> Self {
        // Most messages have one block, and a list grows to four at once.
        Self { uuid, blocks: Vec::with_capacity(1), usage }
    }

    /// Processes an event inside the message.
    pub fn take(&mut self, event: &Event) -> Consequence {
        match event {
            Event::BlockStart { index, block } => self.open(*index, block),
            Event::BlockDelta { index, delta } => self.grow(*index, delta),
            Event::BlockStop { index } => self.close(*index),
            Event::MessageDelta { usage, .. } => {
                self.usage = later(self.usage, *usage);
                Consequence::Data
            }
            _ => Consequence::Data,
        }
    }

    fn open(&mut self, index: usize, opened: &Opened) -> Consequence {
        // A recorded stream may skip indices; a skipped index becomes no block.
        while self.blocks.len() < index {
            self.blocks.push(Block::Text(String::new()));
        }
        self.blocks.truncate(index);
        let (block, took) = match opened {
            Opened::Text => (Block::Text(String::new()), Consequence::Data),
            Opened::Thinking => (Block::Thinking { text: String::new(), signature: String::new() }, Consequence::Data),
            Opened::ToolUse { id, name, caller } => {
                let id = id.clone();
                let name = name.clone();
                (Block::ToolUse(Box::new(Called::new(&id, &name, caller.clone()))), Consequence::Called { id, name })
            }
        };
        self.blocks.push(block);
        took
    }

    fn grow(&mut self, index: usize, delta: &Delta) -> Consequence {
        match (self.blocks.get_mut(index), delta) {
            (Some(Block::Text(text)), Delta::Text(more)) => text.push_str(more),
            (Some(Block::Thinking { text, .. }), Delta::Thinking(more)) => text.push_str(more),
            (Some(Block::Thinking { signature, .. }), Delta::Signature(more)) => signature.push_str(more),
            (Some(Block::ToolUse(called)), Delta::InputJson(more)) => return called.grow(more),
            _ => {}
        }
        Consequence::Data
    }

    /// The end of a block changes no data (STREAM-07). For a call without arguments, or with arguments that never
    /// close, it is the only sign that no more input follows.
    fn close(&mut self, index: usize) -> Consequence {
        match self.blocks.get_mut(index) {
            Some(Block::ToolUse(called)) => called.prepare(),
            _ => Consequence::Data,
        }
    }

    /// Usage so far.
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// The complete message with its calls (STREAM-09).
    pub fn whole(self) -> (Rc<Entry>, Vec<Prepared>) {
        let calls = self.blocks.iter().filter_map(Block::prepared).cloned().collect();
        let content = self.blocks.iter().filter_map(Block::piece).collect();
        (self.entry(content), calls)
    }

    /// What remains of an interrupted message: its text so far, its complete calls, and signed thinking; `None` if only
    /// thinking would remain.
    pub fn part(self) -> Option<(Rc<Entry>, Vec<Prepared>)> {
        let said = |block: &Block| match block {
            Block::Text(text) => !text.is_empty(),
            Block::ToolUse(called) => called.prepared.is_some(),
            Block::Thinking { .. } => false,
        };
        self.blocks.iter().any(said).then(|| self.whole())
    }

    fn entry(self, content: Vec<Piece>) -> Rc<Entry> {
        let texts: Vec<&str> = self.blocks.iter().filter_map(Block::text).collect();
        Rc::new(Entry {
            uuid: self.uuid,
            message: Rc::new(Message { role: Role::Assistant, content: content.into() }),
            tool_uses: self
                .blocks
                .iter()
                .filter_map(Block::prepared)
                .map(|call| NamedCall::from(&call.tool_use))
                .collect(),
            answers: Rc::default(),
            text: texts.concat().into(),
            nature: Nature::Said,
            usage: self.usage,
        })
    }
}

impl Block {
    /// The piece that is sent back. Empty blocks and thinking without a signature are left out, because the provider
    /// refuses them.
    fn piece(&self) -> Option<Piece> {
        match self {
            Self::Text(text) => (!text.is_empty()).then(|| Piece::text(text)),
            Self::Thinking { text, signature } => (!signature.is_empty()).then(|| Piece::thinking(text, signature)),
            Self::ToolUse(called) => called.prepared.as_ref().map(|prepared| called.piece(prepared)),
        }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn prepared(&self) -> Option<&Prepared> {
        if let Self::ToolUse(called) = self { called.prepared.as_ref() } else { None }
    }
}

impl Called {
    fn new(id: &Rc<str>, name: &Rc<str>, caller: Option<Rc<str>>) -> Self {
        let id = id.clone();
        let name = name.clone();
        Self { id, name, caller, text: String::new(), arguments: Arguments::default(), prepared: None }
    }

    /// Text after a complete input is ignored: the call may already have been made, and is sent back as it was made.
    fn grow(&mut self, more: &str) -> Consequence {
        if self.prepared.is_some() {
            return Consequence::Data;
        }
        self.text.push_str(more);
        if self.arguments.take(more) { self.prepare() } else { Consequence::Data }
    }

    /// Completes the input; later calls do nothing.
    fn prepare(&mut self) -> Consequence {
        if self.prepared.is_some() {
            return Consequence::Data;
        }
        // A call without arguments has no delta (`providers.md` 2.3).
        let text = if self.text.is_empty() { "{}" } else { self.text.as_str() };
        let (input, problem) = match serde_json::from_str(text) {
            Ok(input @ Value::Object(_)) => (input, None),
            Ok(_) => (empty(), Some("the input of this call is not a JSON object".into())),
            Err(error) => {
                (empty(), Some(format!("the input of this call is not valid JSON: {}", complaint::json(&error)).into()))
            }
        };
        let tool_use = ToolUse { id: self.id.clone(), name: self.name.clone(), input: Rc::new(input) };
        let prepared = Prepared { tool_use, problem };
        self.prepared = Some(prepared.clone());
        Consequence::Prepared(prepared)
    }

    /// The call as it is sent back, with its input as the model wrote it.
    fn piece(&self, prepared: &Prepared) -> Piece {
        let written = prepared.problem.is_none() && !self.text.is_empty();
        let input = if written { self.text.trim() } else { "{}" };
        Piece::tool_use_by(&self.id, &self.name, input, self.caller.as_deref())
    }
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Usage in a stream is cumulative: a later figure replaces an earlier one, and a missing figure changes nothing.
fn later(before: Usage, now: Usage) -> Usage {
    let last = |before, now| if now > 0 { now } else { before };
    Usage {
        input_tokens: last(before.input_tokens, now.input_tokens),
        cache_read_input_tokens: last(before.cache_read_input_tokens, now.cache_read_input_tokens),
        ephemeral_5m_input_tokens: last(before.ephemeral_5m_input_tokens, now.ephemeral_5m_input_tokens),
        ephemeral_1h_input_tokens: last(before.ephemeral_1h_input_tokens, now.ephemeral_1h_input_tokens),
        output_tokens: last(before.output_tokens, now.output_tokens),
    }
}
