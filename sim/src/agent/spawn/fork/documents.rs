//! A fork's messages as the contract defines them (FORK-20..29): the parent's message unchanged, one placeholder for
//! each of its calls, and the directive as the last text block.

use std::rc::Rc;

use super::{Ablation, Request, text};
use crate::agent::entry::{Entry, Nature};
use crate::wire::{Message, Piece, Role};

/// The two messages after the history (FORK-27). Siblings differ only in the last block (FORK-29).
pub fn build(request: &Request<'_>) -> Vec<Rc<Entry>> {
    vec![clone_of_message(request), answers(request)]
}

/// The parent's message with every block, including call ids, under a new id that is never sent (FORK-20..22). Messages
/// are immutable, so the sent content is shared with the parent by reference (FORK-19).
fn clone_of_message(request: &Request<'_>) -> Rc<Entry> {
    Rc::new(Entry { uuid: request.uuid(), ..Entry::clone(&request.origin.message) })
}

/// One message: the placeholders in the order of the calls, then one text block (FORK-23..26).
fn answers(request: &Request<'_>) -> Rc<Entry> {
    let origin = request.origin;
    let mut content = origin.placeholders.clone();
    if request.without(Ablation::RealResults) {
        put_real_results(request, content.own());
    }
    let prompt = &request.input.prompt;
    let id = &request.call.tool_use.id;
    match origin.message.tool_uses.place(id).filter(|_| request.without(Ablation::Interleave)) {
        Some(at) => {
            let result = Piece::tool_result(id, &format!("{}\n{}", text::PLACEHOLDER, text::directive(prompt)), false);
            content.own()[at] = sized(request, result);
        }
        None => content.push(sized(request, origin.directive.piece(prompt))),
    }
    Rc::new(Entry {
        message: Rc::new(Message { role: Role::User, content }),
        answers: origin.answers.clone(),
        ..Entry::clone(&Entry::of(request.uuid(), Role::User, Vec::new(), "", Nature::Results))
    })
}

/// CACHE-16: the real results of the calls, as far as they are known when the child is built. The result of its own
/// call says that it was launched.
fn put_real_results(request: &Request<'_>, content: &mut [Piece]) {
    let entries = request.call.context.entries.borrow();
    for (id, piece) in request.origin.answers.iter().zip(content) {
        let known = entries.iter().rev().find_map(|entry| {
            let at = entry.answers.iter().position(|answered| answered == id)?;
            entry.message.content.get(at).cloned()
        });
        if let Some(known) = known {
            *piece = known;
        } else if *id == request.call.tool_use.id {
            *piece = Piece::tool_result(id, &format!("async_launched: {}", request.agent), false);
        }
    }
}

/// Assigns the child's own block the size that a scenario declares for it.
pub(super) fn sized(request: &Request<'_>, piece: Piece) -> Piece {
    let declared = request.call.context.session.settings.sizes.and_then(|sizes| sizes.directive_block);
    match declared {
        Some(tokens) => piece.sized(tokens),
        None => piece,
    }
}
