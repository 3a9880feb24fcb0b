//! What an agent asks.

use std::rc::Rc;

use serde_json::Value;

use crate::wire::{Draft, Role};

/// A request on its way to a model, with what a client says beside it in headers.
#[derive(Clone)]
pub struct Question {
    /// The agent's id, as in the header that tells a child from its parent (`clients.md` 1).
    pub agent: Rc<str>,
    /// The agent's type: `main`, or the name of its definition. Scripts are found by it; it is never sent.
    pub agent_type: Rc<str>,
    /// How many requests of this agent were answered before.
    pub turn: u32,
    /// How often this very request was sent before.
    pub attempt: u32,
    /// The request.
    pub draft: Draft,
}

impl Question {
    /// The text of the last user message that has text: what rules of a script look at. Reminders and results of tools are
    /// no text of the user.
    pub fn last_user_text(&self) -> Option<String> {
        self.draft.messages.iter().rev().filter(|message| message.role == Role::User).find_map(|message| {
            let texts: Vec<String> = message.content.iter().filter_map(|piece| text(piece.json())).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        })
    }
}

/// The text of a text block.
fn text(json: &str) -> Option<String> {
    if !json.contains("\"text\"") {
        return None;
    }
    let block: Value = serde_json::from_str(json).ok()?;
    let said = block.get("type")?.as_str()? == "text";
    let text = block.get("text")?.as_str()?;
    (said && !text.starts_with("<system-reminder>")).then(|| text.to_owned())
}
