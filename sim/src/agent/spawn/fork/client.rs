//! A fork's messages as the client of 2026 sends them (`clients.md` 1, "Prefix stability", version 2.1.330, seen
//! 2026-11-21): only the child's own call from the parent's message, with the directive in that call's result. So
//! siblings share what precedes the message, but no part of the message.

use std::rc::Rc;

use super::documents::sized;
use super::{Request, origin, text};
use crate::agent::entry::Entry;
use crate::wire::{Message, Piece, Role};

/// The two messages after the history.
pub fn build(request: &Request<'_>) -> Vec<Rc<Entry>> {
    let message = &request.origin.message;
    let id = &request.call.tool_use.id;
    let own = message.tool_uses.place(id).and_then(|at| message.tool_uses.get(at)).cloned();
    let calls = request.origin.calls.get_or_init(|| origin::calls(message));
    let content = calls.get(id).cloned().into_iter().collect();
    let said = Entry {
        uuid: request.uuid(),
        message: Rc::new(Message { role: Role::Assistant, content }),
        tool_uses: own.into_iter().collect(),
        text: "".into(),
        ..Entry::clone(message)
    };
    let words = format!("{}\n{}", text::STARTED_AS_YOU, text::directive(&request.input.prompt));
    let result = sized(request, Piece::tool_result(id, &words, false));
    vec![Rc::new(said), Entry::results(request.uuid(), vec![(id.clone(), result)])]
}
