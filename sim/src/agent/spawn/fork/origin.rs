//! What the forks of one message share, taken once so that all forks agree (contract FORK-15..19, FORK-53, G05, G06).

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Ablation, Origin, ablation, text};
use crate::agent::conversation::Conversation;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::prompt;
use crate::agent::session::Context;
use crate::agent::settings::shared_out;
use crate::wire::{Index, Message, Piece, Pieces, TextBeginning};

/// What the forks of the parent's `message` share.
pub fn take(parent: &Rc<Context>, message: &Rc<Entry>) -> Origin {
    let ablations = &parent.session.settings.forks.ablations;
    let history = history(parent, message, ablations);
    let answers = message.tool_uses.ids();
    let sent = || parent.conversation.borrow_mut().branch();
    Origin {
        conversation: if parent.conversation.borrow().is_of(&history) { sent() } else { Conversation::default() },
        calls: OnceCell::new(),
        placeholders: placeholders(parent, &answers),
        directive: TextBeginning::new(&text::beginning()),
        message: message.clone(),
        history,
        system: ablation::system(ablations, &rendered(parent)),
        pool: parent.pool(),
        model: parent.model.clone(),
        thinking: ablation::thinking(ablations, parent),
        definition: Rc::new(super::definition()),
        parameters: OnceCell::new(),
        answers,
    }
}

/// What an internal fork takes from its parent: the same, with the whole history so far and without a message that forks
/// (contract INTERNAL-12).
pub fn take_whole(parent: &Rc<Context>, definition: AgentDefinition) -> Origin {
    let history = whole(&parent.entries.borrow());
    let sent = || parent.conversation.borrow_mut().branch();
    Origin {
        conversation: if parent.conversation.borrow().is_of(&history) { sent() } else { Conversation::default() },
        calls: OnceCell::new(),
        placeholders: Pieces::default(),
        directive: TextBeginning::new(""),
        message: Entry::user("none".into(), "", Nature::Inserted),
        history,
        system: rendered(parent),
        pool: parent.pool(),
        model: parent.model.clone(),
        thinking: parent.thinking.clone(),
        definition: Rc::new(definition),
        parameters: OnceCell::new(),
        answers: Rc::default(),
    }
}

/// The system prompt of the parent's last request. If the parent never sent one, it is rendered, stored, and reported
/// as unverified (G06).
fn rendered(parent: &Rc<Context>) -> Rc<[Piece]> {
    if parent.system.borrow().is_empty() {
        let system = prompt::render_system(parent);
        *parent.system.borrow_mut() = system;
        parent.emit(&Event::PrefixUnverified { agent: parent.agent.clone() });
    }
    parent.system.borrow().clone()
}

/// The parent's messages before `message`, without unanswered calls and without results that answer no call (G05).
fn history(parent: &Context, message: &Rc<Entry>, ablations: &BTreeSet<Ablation>) -> Vec<Rc<Entry>> {
    let entries = parent.entries.borrow();
    let end = entries.iter().position(|entry| Rc::ptr_eq(entry, message)).unwrap_or(entries.len());
    let before = &entries[..end];
    if ablations.contains(&Ablation::StripHistory) {
        let prompt = before.iter().rposition(|entry| entry.nature == Nature::Typed).unwrap_or(0);
        return before[prompt..].to_vec();
    }
    whole(before)
}

/// Entries without unanswered calls and without results that answer no call (G05).
fn whole(before: &[Rc<Entry>]) -> Vec<Rc<Entry>> {
    let ids = |of: fn(&Entry) -> Rc<[Rc<str>]>| -> BTreeSet<Rc<str>> {
        before.iter().flat_map(|entry| of(entry).to_vec()).collect()
    };
    let answered = ids(|entry| entry.answers.clone());
    let called = ids(|entry| entry.tool_uses.ids());
    if answered == called {
        return before.to_vec();
    }
    before.iter().filter_map(|entry| complete(entry, &called, &answered)).collect()
}

/// An entry without unanswered calls and without results for no call; `None` if it becomes empty.
fn complete(entry: &Rc<Entry>, called: &BTreeSet<Rc<str>>, answered: &BTreeSet<Rc<str>>) -> Option<Rc<Entry>> {
    let open = |id: &Rc<str>| !(called.contains(id) && answered.contains(id));
    let is_whole = !entry.tool_uses.iter().any(|call| open(&call.id)) && !entry.answers.iter().any(open);
    if is_whole {
        return Some(entry.clone());
    }
    let dropped = |piece: &Piece| {
        let ids = entry.tool_uses.iter().map(|call| &call.id).chain(entry.answers.iter());
        ids.filter(|id| open(id)).any(|id| piece.is_about(id))
    };
    let content: Vec<Piece> = entry.message.content.iter().filter(|piece| !dropped(piece)).cloned().collect();
    (!content.is_empty()).then(|| {
        Rc::new(Entry {
            message: Rc::new(Message { role: entry.message.role, content: content.into() }),
            tool_uses: entry.tool_uses.iter().filter(|call| !open(&call.id)).cloned().collect(),
            answers: entry.answers.iter().filter(|id| !open(id)).cloned().collect(),
            ..Entry::clone(entry)
        })
    })
}

/// The blocks of the calls. They are in the order of the calls, among other blocks.
pub(super) fn calls(message: &Entry) -> Index<Rc<str>, Piece> {
    let mut pieces = message.message.content.iter();
    let mut calls = Index::default();
    for id in message.tool_uses.iter().map(|call| &call.id) {
        if let Some(piece) = pieces.find(|piece| piece.is_about(id)) {
            calls.insert(id.clone(), piece.clone());
        }
    }
    calls
}

/// One placeholder for each call, with its share of the declared size.
fn placeholders(parent: &Context, answers: &[Rc<str>]) -> Pieces {
    let pieces: Vec<Piece> = answers.iter().map(|id| Piece::tool_result(id, text::PLACEHOLDER, false)).collect();
    Pieces::shared(match parent.session.settings.sizes.and_then(|sizes| sizes.placeholder) {
        Some(total) => {
            let weights: Vec<u64> = pieces.iter().map(|piece| piece.json().len() as u64).collect();
            pieces.into_iter().zip(shared_out(total, &weights)).map(|(piece, tokens)| piece.sized(tokens)).collect()
        }
        None => pieces,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::entry::NamedCall;
    use crate::wire::Role;

    #[test]
    fn fork_17_calls_without_results_and_results_without_calls_are_not_inherited() {
        let call = |id: &str| NamedCall { id: id.into(), name: "Read".into() };
        let block = |id: &str| Piece::tool_use_raw(id, "Read", "{}");
        let content = vec![Piece::text("I look."), block("open"), block("done")];
        let said = Entry::of("a".into(), Role::Assistant, content, "I look.", Nature::Said);
        let said = Entry { tool_uses: [call("open"), call("done")].into_iter().collect(), ..Entry::clone(&said) };
        let result = |id: &str| (id.into(), Piece::tool_result(id, "a file", false));
        let results = Entry::results("b".into(), vec![result("lost"), result("done")]);
        let strayed = Entry::results("c".into(), vec![result("elsewhere")]);
        let inherited = whole(&[Rc::new(said), results, strayed]);
        let blocks = |entry: &Rc<Entry>| entry.message.content.len();
        assert_eq!(inherited.iter().map(blocks).collect::<Vec<_>>(), [2, 1], "the third message is left out");
        assert_eq!(*inherited[0].tool_uses.ids(), ["done".into()]);
        assert_eq!(*inherited[1].answers, ["done".into()]);
        assert!(inherited[0].message.content.iter().all(|piece| !piece.is_about("open")));
    }
}
