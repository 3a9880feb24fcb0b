//! What an abort leaves behind: every call has its result, and the model can read that it was interrupted.

use std::rc::Rc;

use super::Yielded;
use super::iteration::Loop;
use super::stream::Turn;

/// What stands in the conversation where the user interrupted.
pub(super) const INTERRUPTED: &str = "[The user interrupted this turn here.]";

impl Loop {
    /// Ends a turn that was aborted: what was said of its message so far, a result for every call, and a word about it.
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
            // A call whose message was dropped has nothing to answer to.
            if answer.entry.answers.iter().all(|id| called.contains(id)) {
                self.append(answer.entry).await;
            }
        }
        self.insert(INTERRUPTED).await;
    }

    /// Yields the result of a tool that ended behind the stream, and puts it into the conversation.
    pub(super) async fn take_late(&self, turn: &mut Turn, answer: super::call::Answer) {
        turn.added.extend(answer.added);
        self.context.entries.borrow_mut().push(Rc::clone(&answer.entry));
        self.yielder.give(Yielded::Entry(answer.entry)).await;
    }
}

fn calls(messages: &[Rc<crate::agent::Entry>]) -> Vec<Rc<str>> {
    messages.iter().flat_map(|message| &message.tool_uses).map(|call| Rc::clone(&call.id)).collect()
}
