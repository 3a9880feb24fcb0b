//! What an answer says of the thinking in its request.

use serde::{Deserialize, Serialize};

use super::RejectedThinking;
use super::rejection::{CONTENT, SIGNATURE};
use crate::outside::words;

words! {
    /// Why thinking was dropped (`providers-2026-11.md` A.2, in the order in which the provider checks; SDK, 2026-10).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum DropReason: word {
        /// Another organisation made it.
        Organization = "organization_binding_mismatch",
        /// It was made for another end user.
        EndUser = "end_user_binding_mismatch",
        /// The model may not read it.
        Model = "model_binding_mismatch",
        /// Other content is before it than when it was made.
        Prefix = "prefix_binding_mismatch",
    }
}

/// `input_transformations` of an answer: what the provider did with the thinking in the prompt. There is none without the
/// beta header `thinking-binding-controls-2026-08-01` (`providers-2026-11.md` A.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredThinking {
    /// Blocks that were neither shown nor billed (`thinking_dropped`).
    pub dropped: u32,
    /// The reason for the first of them, if it is a known one.
    pub reason: Option<DropReason>,
    /// Blocks that were shown and billed, though their prefix changed (`thinking_mismatch_allowed`).
    pub allowed: u32,
}

impl AnsweredThinking {
    /// What was dropped, in words.
    pub fn dropped_words(self) -> String {
        let Self { dropped, reason, .. } = self;
        let blocks =
            if dropped == 1 { "1 thinking block was".to_owned() } else { format!("{dropped} thinking blocks were") };
        let reason = reason.map_or_else(String::new, |reason| format!(" (`{}`)", reason.word()));
        format!("{blocks} dropped, as the recorded answer says{reason}")
    }
}

impl RejectedThinking {
    /// What happened to the request, if it `is_answered`; else what the provider does.
    pub fn told(&self, answered: Option<AnsweredThinking>, is_answered: bool) -> String {
        let Self { outcome, answer, edit, .. } = self;
        match answered {
            Some(answered) if answered.dropped > 0 => format!("{}: {edit}", answered.dropped_words()),
            Some(answered) if answered.allowed > 0 => {
                format!("the model saw this thinking, and it was billed, as the recorded answer says: {edit}")
            }
            Some(_) => format!("nothing was dropped, as the recorded answer says: {edit}"),
            None if is_answered && outcome.refuses() => {
                format!("the provider took it, as the recorded answer shows; by the documents: {answer}")
            }
            None => answer.clone(),
        }
    }
}

/// What the provider expects, if the message of an error with HTTP 400 is about thinking that it does not take: a changed
/// prefix, another signature, or thinking of two answers in one (`providers-2026-11.md` A.4).
pub fn refusal_of_thinking(message: &str) -> Option<&'static str> {
    let is_signature = message.contains("Invalid `signature` in `thinking` block");
    let is_modified = message.contains("`thinking`") && message.contains("cannot be modified");
    match message.contains("bound to a different conversation") {
        true if is_signature => Some(CONTENT),
        _ => (is_signature || is_modified).then_some(SIGNATURE),
    }
}
