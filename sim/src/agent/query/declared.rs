//! Sizes that a scenario declares for whole parts of a conversation (`design.md` 3): everything before the first
//! answer, and a message that starts agents. Both are assigned before any of it is sent, so all requests agree.

use std::rc::Rc;

use crate::agent::entry::Entry;
use crate::agent::prompt;
use crate::agent::session::Context;
use crate::agent::settings::shared_out;
use crate::wire::{Message, Piece, Pieces};

/// Assigns everything before the main agent's first answer its share of the declared history.
pub(super) fn size_history(context: &Context) {
    let is_first = context.is_main() && context.turns.get() == 0;
    let Some(total) = context.session.settings.sizes.and_then(|sizes| sizes.history).filter(|_| is_first) else {
        return;
    };
    let before = prompt::user_context(context);
    let mut entries = context.entries.borrow_mut();
    let messages = before.iter().chain(entries.iter().map(|entry| &entry.message));
    let weights: Vec<u64> = messages.flat_map(|message| &message.content).map(weight).collect();
    let mut shares = shared_out(total, &weights).into_iter();
    for message in &before {
        context.session.user_contexts.replace(&context.begun_in, sized(message, &mut shares));
    }
    for at in 0..entries.len() {
        let entry = &entries[at];
        let sized = Entry { message: Rc::new(sized(&entry.message, &mut shares)), ..Entry::clone(entry) };
        entries.put(at, Rc::new(sized));
    }
}

/// The entry with its share of the declared size, if it is a message that starts agents.
pub(super) fn size_launching(context: &Context, entry: Rc<Entry>) -> Rc<Entry> {
    let Some(total) = context.session.settings.sizes.and_then(|sizes| sizes.assistant) else { return entry };
    if context.fork.is_some() || !entry.tool_uses.iter().any(|call| &*call.name == "Agent") {
        return entry;
    }
    let weights: Vec<u64> = entry.message.content.iter().map(weight).collect();
    let message = sized(&entry.message, &mut shared_out(total, &weights).into_iter());
    Rc::new(Entry { message: Rc::new(message), ..Entry::clone(&entry) })
}

fn weight(piece: &Piece) -> u64 {
    piece.json().len() as u64
}

fn sized(message: &Message, shares: &mut impl Iterator<Item = u64>) -> Message {
    let content = message.content.iter().cloned().zip(shares).map(|(piece, tokens)| piece.sized(tokens)).collect();
    Message { role: message.role, content: Pieces::shared(content) }
}
