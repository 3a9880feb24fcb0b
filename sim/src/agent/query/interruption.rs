//! Completes the conversation after an abort: every call has a result, and the model can see that it was interrupted.

use std::rc::Rc;

use super::Yielded;
use super::generator::Given;
use super::iteration::Loop;
use super::stream::Turn;

/// Inserted where the user interrupted.
pub(super) const INTERRUPTED: &str = "[The user interrupted this turn here.]";

impl Loop {
    /// Ends an aborted turn: keeps the partial message, adds a result for every call, and notes the interruption.
    pub(super) async fn interrupt(&self, turn: Turn) {
        let Turn { assembler, mut executor, messages, results, .. } = turn;
        let mut called: Vec<Rc<str>> = calls(&messages);
        if let Some((part, prepared)) = assembler.and_then(super::assemble::Assembler::part) {
            executor.hold(&part, &prepared);
            called.extend(part.tool_uses.iter().map(|call| Rc::clone(&call.id)));
            self.append(part).await;
        }
        self.context.entries.borrow_mut().extend(results);
        for answer in executor.stop().await {
            // A call of a dropped message needs no answer.
            if answer.entry.answers.iter().all(|id| called.contains(id)) {
                self.append(answer.entry).await;
            }
        }
        self.insert(INTERRUPTED).await;
    }

    /// Yields the result of a tool that ended after the stream, and adds it to the conversation; to be awaited at once.
    pub(super) fn take_late(&self, turn: &mut Turn, answer: super::call::Answer) -> Given<'_, Yielded> {
        turn.added.extend(answer.added);
        self.append(answer.entry)
    }
}

fn calls(messages: &[Rc<crate::agent::Entry>]) -> Vec<Rc<str>> {
    messages.iter().flat_map(|message| &message.tool_uses).map(|call| Rc::clone(&call.id)).collect()
}
