//! What the forks of one message share, taken once so that all agree (contract FORK-15..19, FORK-53, G05, G06).

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};

use super::launch::Launching;
use super::{Ablation, ablation, text};
use crate::agent::context::Context;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::prompt;
use crate::agent::query::Conversation;
use crate::agent::session::shared_out;
use crate::agent::tool::Pool;
use crate::wire::{Index, Message, Piece, Pieces};

/// What the forks of one message share.
pub struct Origin {
    /// The message that forks.
    pub message: Rc<Entry>,
    /// What the parent's last request held (FORK-17).
    pub history: Vec<Rc<Entry>>,
    /// The same as it was sent, so that no child puts it together again.
    pub conversation: Conversation,
    /// The system prompt of the parent's last request (FORK-15).
    pub system: Rc<[Piece]>,
    /// The parent's tools (FORK-16).
    pub pool: Rc<Pool>,
    /// The parent's model, as spelled (FORK-18).
    pub model: Rc<str>,
    /// The `thinking` parameter of the parent's requests (FORK-18).
    pub thinking: Option<Rc<str>>,
    /// What every fork is (FORK-08).
    pub definition: Rc<AgentDefinition>,
    /// The parameters of the children's requests, once one of them has asked.
    pub parameters: OnceCell<Rc<[(String, String)]>>,
    /// The blocks of the message's calls, by id.
    pub calls: Index<Rc<str>, Piece>,
    /// The ids of the message's calls, in order.
    pub answers: Rc<[Rc<str>]>,
    /// A placeholder for each of them (FORK-23..25).
    pub placeholders: Pieces,
    /// When the children start.
    pub launching: Rc<Launching>,
}

/// The origins that children of a session still stand on, by message.
#[derive(Default)]
pub struct Origins(RefCell<BTreeMap<Rc<str>, Weak<Origin>>>);

impl Origins {
    /// Whether a call of `message` has forked: then the guards have looked at what its caller has behind it.
    pub fn knows(&self, message: &Entry) -> bool {
        self.0.borrow().get(&message.uuid).is_some_and(|origin| origin.strong_count() > 0)
    }

    /// The origin of the forks of `message`, said by `parent`.
    pub fn of(&self, parent: &Rc<Context>, message: &Rc<Entry>) -> Rc<Origin> {
        let mut known = self.0.borrow_mut();
        if let Some(origin) = known.get(&message.uuid).and_then(Weak::upgrade) {
            return origin;
        }
        known.retain(|_, origin| origin.strong_count() > 0);
        let origin = Rc::new(Origin::take(parent, message));
        known.insert(message.uuid.clone(), Rc::downgrade(&origin));
        origin
    }
}

impl Origin {
    /// The history, with room for the few messages that most forks add.
    pub fn begin(&self) -> Vec<Rc<Entry>> {
        let mut entries = Vec::with_capacity(self.history.len() + 8);
        entries.extend_from_slice(&self.history);
        entries
    }

    fn take(parent: &Rc<Context>, message: &Rc<Entry>) -> Self {
        let ablations = &parent.session.settings.forks.ablations;
        let history = history(parent, message, ablations);
        let answers = message.tool_uses.ids();
        let sent = || parent.conversation.borrow_mut().branch();
        Self {
            conversation: if parent.conversation.borrow().is_of(&history) { sent() } else { Conversation::default() },
            calls: calls(message),
            placeholders: placeholders(parent, &answers),
            message: message.clone(),
            history,
            system: ablation::system(ablations, &rendered(parent)),
            pool: parent.pool.clone(),
            model: parent.model.clone(),
            thinking: ablation::thinking(ablations, parent),
            definition: Rc::new(super::definition()),
            parameters: OnceCell::new(),
            answers,
            launching: Rc::default(),
        }
    }
}

/// The system prompt of the parent's last request. A parent that never asked has none: it is rendered, kept, and told as
/// unverified (G06).
fn rendered(parent: &Rc<Context>) -> Rc<[Piece]> {
    if parent.system.borrow().is_empty() {
        let system = prompt::render_system(parent);
        *parent.system.borrow_mut() = system;
        parent.emit(&Event::PrefixUnverified { agent: parent.agent.clone() });
    }
    parent.system.borrow().clone()
}

/// The parent's messages before `message`; calls that nothing answered are left out, with whatever answers no call (G05).
fn history(parent: &Context, message: &Rc<Entry>, ablations: &BTreeSet<Ablation>) -> Vec<Rc<Entry>> {
    let entries = parent.entries.borrow();
    let end = entries.iter().position(|entry| Rc::ptr_eq(entry, message)).unwrap_or(entries.len());
    let before = &entries[..end];
    if ablations.contains(&Ablation::StripHistory) {
        let prompt = before.iter().rposition(|entry| entry.nature == Nature::Typed).unwrap_or(0);
        return before[prompt..].to_vec();
    }
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

/// An entry without calls that nothing answers and without answers to no call; nothing where nothing is left.
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

/// The blocks of the calls. They stand in the order of the calls, among other blocks.
fn calls(message: &Entry) -> Index<Rc<str>, Piece> {
    let mut pieces = message.message.content.iter();
    let mut calls = Index::default();
    for id in message.tool_uses.iter().map(|call| &call.id) {
        if let Some(piece) = pieces.find(|piece| piece.is_about(id)) {
            calls.insert(id.clone(), piece.clone());
        }
    }
    calls
}

/// One placeholder for each call, with their share of what a scenario declares for all of them.
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
