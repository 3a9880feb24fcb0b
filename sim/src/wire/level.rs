//! The three levels of a prompt, the roles, and the place of a block.

use std::fmt;

use crate::outside::words;

words! {
    /// Levels in the order in which the provider hashes them, regardless of the order of keys in the body.
    ///
    /// Source: Anthropic prompt-caching page, "tools, system, messages" (2026-09).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// Tool definitions.
        Tools = "tools",
        /// The system prompt.
        System = "system",
        /// The conversation.
        Messages = "messages",
    }
}

/// Role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Outside messages.
    None,
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
    /// `system`, inside `messages` (mid-conversation system messages).
    System,
    /// Any other word.
    Other,
}

impl Role {
    /// The role that the word `name` in a body means.
    pub fn named(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            _ => Self::Other,
        }
    }

    /// The word in a body; empty outside messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Other => "other",
        }
    }
}

/// Position of a block in the body as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Level.
    pub level: Level,
    /// Index in `tools`, `system` or `messages`.
    pub item: u32,
    /// Index in the message's `content`; zero elsewhere and for string content.
    pub part: u32,
    /// The block is not an element but keys: a level's parameters or a message's own.
    pub keys: bool,
}

impl fmt::Display for Place {
    /// `tools[4]`, `system[0]`, `messages[3].content[1]`; parameters by their level or message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.level, self.keys) {
            (Level::Messages, false) => write!(f, "messages[{}].content[{}]", self.item, self.part),
            (Level::Messages, true) if self.item != Self::LEVEL_HEAD => write!(f, "messages[{}]", self.item),
            (level, true) => f.write_str(level.name()),
            (level, false) => write!(f, "{}[{}]", level.name(), self.item),
        }
    }
}

impl Place {
    /// The item of a level's own parameters, which precede its elements.
    pub const LEVEL_HEAD: u32 = u32::MAX;

    /// Whether it is content of the message `item`, and not its keys.
    pub fn is_of_message(&self, item: u32) -> bool {
        self.level == Level::Messages && self.item == item && !self.keys
    }

    /// The place of the parameters of `level`.
    pub const fn head(level: Level) -> Self {
        Self { level, item: Self::LEVEL_HEAD, part: 0, keys: true }
    }
}
