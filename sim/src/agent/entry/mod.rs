//! A message of a conversation as the runtime keeps it: what is sent, and what is known beside it.

mod calls;

use std::rc::Rc;

use crate::outside::words;
use crate::wire::{Message, Piece, Pieces, Role, Usage};
pub use calls::{Calls, ToolUse};

/// A message of a conversation. What is sent of it is `message` alone; nothing else ever reaches a request's bytes
/// (contract CACHE-31).
#[derive(Clone)]
pub struct Entry {
    /// Id in transcripts.
    pub uuid: Rc<str>,
    /// What is sent.
    pub message: Rc<Message>,
    /// Calls of tools in it, in order of arrival.
    pub tool_uses: Calls,
    /// Ids of the calls whose results stand in it, in step with the first blocks of `message`.
    pub answers: Rc<[Rc<str>]>,
    /// Its text, for results and reports.
    pub text: Rc<str>,
    /// What it stands for beside its role.
    pub nature: Nature,
    /// Usage of the answer that it came from; nothing for user messages.
    pub usage: Usage,
}

words! {
    /// What an entry stands for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Nature {
        /// The user typed it, or a command put it in the user's place.
        Typed = "typed",
        /// A model said it.
        Said = "said",
        /// Results of tools.
        Results = "results",
        /// The runtime put it there: a reminder, a hook's words, a notification.
        Inserted = "inserted",
        /// An error of the API in the place of an answer; it is shown and ends the turn (contract STOP-02), and is never sent.
        ApiError = "api_error",
    }
}

impl Entry {
    /// A user message of one text block.
    pub fn user(uuid: Rc<str>, text: &str, nature: Nature) -> Rc<Self> {
        Self::of(uuid, Role::User, vec![Piece::text(text)], text, nature)
    }

    /// A user message of results of tools, each with the id of its call.
    pub fn results(uuid: Rc<str>, results: Vec<(Rc<str>, Piece)>) -> Rc<Self> {
        let (answers, content): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        Rc::new(Self { answers: answers.into(), ..Self::plain(uuid, Role::User, content.into(), "", Nature::Results) })
    }

    /// A message without calls of tools and without results.
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

    /// Whether it is what a model said, an error in its place included.
    pub fn is_assistant(&self) -> bool {
        matches!(self.nature, Nature::Said | Nature::ApiError)
    }
}

/// A text of the system in a user's message.
pub(in crate::agent) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}
