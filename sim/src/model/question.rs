//! A question to a model.

use std::rc::Rc;

use serde_json::Value;

use crate::wire::{Draft, Role};

/// A request on its way to a model, with the metadata that a client sends in headers.
#[derive(Clone)]
pub struct Question {
    /// The agent's id, as in the header that distinguishes a child from its parent (`clients.md` 1).
    pub agent: Rc<str>,
    /// The agent's type: `main`, or the name of its definition. Scripts are selected by it; it is never sent.
    pub agent_type: Rc<str>,
    /// The call that started it; `None` for the main agent. It is never sent.
    pub started_by: Option<Rc<str>>,
    /// Number of earlier requests of this agent that were answered.
    pub turn: u32,
    /// How often this same request was sent before.
    pub attempt: u32,
    /// The request, kept by its agent in case that it must be sent again.
    pub draft: Rc<Draft>,
}

impl Question {
    /// The ids of the calls whose results the newest message has.
    pub fn answered_calls(&self) -> Vec<&str> {
        let newest = self.draft.messages.last().filter(|message| message.role == Role::User);
        newest.into_iter().flat_map(|message| &message.content).filter_map(|piece| piece.answered_call()).collect()
    }

    /// The first id of an agent or a background task in the result of `call`, as a model would copy it.
    pub fn id_in_result(&self, call: &str) -> Option<String> {
        let pieces = self.draft.messages.iter().rev().flat_map(|message| &message.content);
        let result = pieces.into_iter().find(|piece| piece.answered_call() == Some(call))?;
        let json = result.json().strip_prefix("{\"tool_use_id\":\"")?.strip_prefix(call)?;
        let is_of_id = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let kinds = ["agent-", "shell-", "monitor-", "remote-"];
        let id = json.split(is_of_id).find(|word| kinds.iter().any(|kind| word.starts_with(kind)))?;
        Some(id.to_owned())
    }

    /// The text of the last user message that has text, for the rules of a script. Reminders and tool results do not
    /// count as user text.
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
