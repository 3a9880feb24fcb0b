//! A message of a conversation as the runtime keeps it: its sent part, and metadata.

mod block;
mod calls;
mod history;

use std::rc::Rc;

use crate::outside::words;
use crate::wire::{Message, Piece, Pieces, Role, Usage};
pub(super) use block::Block;
pub use calls::{Calls, NamedCall, ToolUse};
pub use history::History;

/// A message of a conversation. Only `message` is sent; no other field ever reaches a request's bytes (contract
/// CACHE-31).
#[derive(Clone)]
pub struct Entry {
    /// Id in transcripts.
    pub uuid: Rc<str>,
    /// The content that is sent.
    pub message: Rc<Message>,
    /// Its tool calls, in order of arrival.
    pub tool_uses: Calls,
    /// Ids of the calls that its results answer, in step with the first blocks of `message`.
    pub answers: Rc<[Rc<str>]>,
    /// Its text, for results and reports.
    pub text: Rc<str>,
    /// What kind of entry it is, beyond its role.
    pub nature: Nature,
    /// Usage of the answer it came from; zero for user messages.
    pub usage: Usage,
}

words! {
    /// Kinds of entries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Nature {
        /// Typed by the user, or inserted by a command in the user's name.
        Typed = "typed",
        /// An answer of a model.
        Said = "said",
        /// Tool results.
        Results = "results",
        /// Inserted by the runtime: a reminder, a hook's text, a notification.
        Inserted = "inserted",
        /// An API error instead of an answer. It is shown, ends the turn (contract STOP-02), and is never sent.
        ApiError = "api_error",
    }
}

impl Entry {
    /// A user message with one text block.
    pub fn user(uuid: Rc<str>, text: &str, nature: Nature) -> Rc<Self> {
        Self::of(uuid, Role::User, vec![Piece::text(text)], text, nature)
    }

    /// A user message of tool results, each with the id of its call.
    pub fn results(uuid: Rc<str>, results: Vec<(Rc<str>, Piece)>) -> Rc<Self> {
        let (answers, content): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        Rc::new(Self { answers: answers.into(), ..Self::plain(uuid, Role::User, content.into(), "", Nature::Results) })
    }

    /// A message without tool calls and results.
    pub fn of(uuid: Rc<str>, role: Role, content: Vec<Piece>, text: &str, nature: Nature) -> Rc<Self> {
        Rc::new(Self::plain(uuid, role, content.into(), text, nature))
    }

    fn plain(uuid: Rc<str>, role: Role, content: Pieces, text: &str, nature: Nature) -> Self {
        let message = Rc::new(Message { role, content });
        let tool_uses = Calls::default();
        let answers = Rc::default();
        let usage = Usage::default();
        Self { uuid, message, tool_uses, answers, text: text.into(), nature, usage }
    }

    /// Whether it is a model's answer, or an error instead of one.
    pub fn is_assistant(&self) -> bool {
        matches!(self.nature, Nature::Said | Nature::ApiError)
    }
}

/// A text of the system inside a user message.
pub(in crate::agent) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}
