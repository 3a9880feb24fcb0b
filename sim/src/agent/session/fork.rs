//! What the forks of one message share (contract FORK-15..19, FORK-53).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::Pool;
use crate::agent::conversation::Conversation;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::Entry;
use crate::wire::{Index, Piece, Pieces, TextBeginning};

/// What the forks of one message share.
pub struct Origin {
    /// The forking message.
    pub message: Rc<Entry>,
    /// The history of the parent's last request (FORK-17).
    pub history: Vec<Rc<Entry>>,
    /// The same history as sent, so that children need not build it again.
    pub conversation: Conversation,
    /// The system prompt of the parent's last request (FORK-15).
    pub system: Rc<[Piece]>,
    /// The parent's tools (FORK-16).
    pub pool: Rc<Pool>,
    /// The parent's model, as spelled (FORK-18).
    pub model: Rc<str>,
    /// The `thinking` parameter of the parent's requests (FORK-18).
    pub thinking: Option<Rc<str>>,
    /// The definition of every fork (FORK-08).
    pub definition: Rc<AgentDefinition>,
    /// The parameters of the children's requests, set by the first request.
    pub parameters: OnceCell<Rc<[(String, String)]>>,
    /// The blocks of the message's calls, by id, for the profile that needs them.
    pub calls: OnceCell<Index<Rc<str>, Piece>>,
    /// The ids of the message's calls, in order.
    pub answers: Rc<[Rc<str>]>,
    /// A placeholder for each of them (FORK-23..25).
    pub placeholders: Pieces,
    /// What their directives begin with.
    pub directive: TextBeginning,
}

/// The origins that are still used by children of a session, by message.
#[derive(Default)]
pub struct Origins(RefCell<BTreeMap<Rc<str>, Weak<Origin>>>);

impl Origins {
    /// The origin of the forks of `message`; `take` creates it for the first fork.
    pub fn of(&self, message: &Entry, take: impl FnOnce() -> Origin) -> Rc<Origin> {
        let mut known = self.0.borrow_mut();
        if let Some(origin) = known.get(&message.uuid).and_then(Weak::upgrade) {
            return origin;
        }
        known.retain(|_, origin| origin.strong_count() > 0);
        let origin = Rc::new(take());
        known.insert(message.uuid.clone(), Rc::downgrade(&origin));
        origin
    }
}

impl Origin {
    /// The history and the fork's `own` messages, with capacity for the few that most forks add.
    pub fn begin(&self, own: Vec<Rc<Entry>>) -> Vec<Rc<Entry>> {
        let mut entries = Vec::with_capacity(self.history.len() + own.len() + 4);
        entries.extend_from_slice(&self.history);
        entries.extend(own);
        entries
    }
}
