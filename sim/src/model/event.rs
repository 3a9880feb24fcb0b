//! The events of a stream and their grammar.
//!
//! Source: Anthropic streaming page (2026-09; `providers.md` 2.3). An unknown kind or order is an error in scripts; in
//! recordings it is tolerated and counted.

use std::rc::Rc;

use serde::Serialize;

use crate::outside::words;
use crate::wire::Usage;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message begins. Its input usage is already final.
    MessageStart {
        /// The provider's id of the message.
        id: Rc<str>,
        /// Input usage. A script leaves it at zero; the provider fills it in.
        usage: Usage,
    },
    /// A block begins.
    BlockStart {
        /// Position in the message's content.
        index: usize,
        /// What begins.
        block: Opened,
    },
    /// A block grows.
    BlockDelta {
        /// Position in the message's content.
        index: usize,
        /// The addition.
        delta: Delta,
    },
    /// A block is whole.
    BlockStop {
        /// Position in the message's content.
        index: usize,
    },
    /// Facts about the whole message; usage is cumulative.
    MessageDelta {
        /// Why the model stopped.
        stop_reason: Option<StopReason>,
        /// Usage so far.
        usage: Usage,
    },
    /// The message is whole.
    MessageStop,
    /// A keep-alive event without content.
    Ping,
    /// The provider gave up; no event follows.
    Error {
        /// The provider's error type, such as `overloaded_error`.
        kind: Rc<str>,
        /// The provider's error message.
        message: Rc<str>,
    },
}

/// The start of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Text, still empty.
    Text,
    /// Thinking, still empty.
    Thinking,
    /// A tool call whose input is still an empty string.
    ToolUse {
        /// Id of the call.
        id: Rc<str>,
        /// The tool.
        name: Rc<str>,
        /// Who made the call, as JSON, if the provider says so: clients send it back as it came.
        caller: Option<Rc<str>>,
    },
}

/// What a delta adds to a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Text for a text block.
    Text(Rc<str>),
    /// Text for a thinking block.
    Thinking(Rc<str>),
    /// The signature of a thinking block.
    Signature(Rc<str>),
    /// Part of the JSON text of a tool call's input.
    InputJson(Rc<str>),
}

impl Delta {
    /// What is added.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Signature(text) | Self::InputJson(text) => text,
        }
    }
}

words! {
    /// Why the model stopped, with the words of the Messages API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StopReason: word {
        /// The answer is complete.
        EndTurn = "end_turn",
        /// It wants tools to run.
        ToolUse = "tool_use",
        /// The output limit was reached.
        MaxTokens = "max_tokens",
        /// A stop sequence appeared.
        StopSequence = "stop_sequence",
        /// The model declined.
        Refusal = "refusal",
    }
}

impl Event {
    /// The provider's name for this kind of event.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::BlockStart { .. } => "content_block_start",
            Self::BlockDelta { .. } => "content_block_delta",
            Self::BlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
            Self::Ping => "ping",
            Self::Error { .. } => "error",
        }
    }
}

/// Follows a stream and reports where it breaks the grammar (contract STREAM-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grammar {
    inside_message: bool,
    open_block: Option<usize>,
    next_index: usize,
    messages: usize,
    over: bool,
}

impl Grammar {
    /// Takes the next event.
    ///
    /// # Errors
    /// The expectation.
    pub fn step(&mut self, event: &Event) -> Result<(), &'static str> {
        if self.over {
            return Err("nothing: an `error` event ends the stream");
        }
        match event {
            Event::Ping => Ok(()),
            Event::Error { .. } => {
                self.over = true;
                Ok(())
            }
            Event::MessageStart { .. } if !self.inside_message => {
                *self = Self { inside_message: true, messages: self.messages + 1, ..Self::default() };
                Ok(())
            }
            _ if !self.inside_message => Err("message_start"),
            Event::MessageStart { .. } => Err("the end of the message that is open (message_stop)"),
            Event::BlockStart { index, .. } => self.open(*index),
            Event::BlockDelta { index, .. } if self.open_block == Some(*index) => Ok(()),
            Event::BlockDelta { .. } => Err("content_block_start of this index"),
            Event::BlockStop { index } if self.open_block == Some(*index) => {
                self.open_block = None;
                Ok(())
            }
            Event::BlockStop { .. } => Err("content_block_start of this index"),
            _ if self.open_block.is_some() => Err("content_block_stop of the open block"),
            Event::MessageDelta { .. } => Ok(()),
            Event::MessageStop => {
                self.inside_message = false;
                Ok(())
            }
        }
    }

    fn open(&mut self, index: usize) -> Result<(), &'static str> {
        if self.open_block.is_some() {
            return Err("content_block_stop of the open block");
        }
        if index != self.next_index {
            return Err("the next index: blocks are numbered from zero without gaps");
        }
        self.open_block = Some(index);
        self.next_index += 1;
        Ok(())
    }

    /// Whether the stream may end here.
    ///
    /// # Errors
    /// The missing field.
    pub fn end(&self) -> Result<(), &'static str> {
        match (self.over, self.inside_message, self.messages) {
            (true, _, _) | (false, false, 1..) => Ok(()),
            (false, false, 0) => Err("message_start"),
            (false, true, _) => Err("message_stop"),
        }
    }
}
