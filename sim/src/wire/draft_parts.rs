//! The pieces of a draft as parts at their places.

use std::rc::Rc;

use super::draft::{Draft, Mark, Message};
use super::level::{Level, Role};
use super::number::number;
use super::order::{LastCalls, Placed};
use super::part::Part;
use super::piece::Piece;

/// The parts of a draft in prompt order, without the draft's marks.
#[derive(Clone, Debug, Default)]
pub struct DraftParts {
    placed: Vec<Placed>,
    tools: usize,
    /// For each message: the end of its parts, and the last calls up to there.
    messages: Vec<(usize, LastCalls)>,
}

impl DraftParts {
    /// The parts of `draft`; `read` reads its pieces.
    pub fn of(draft: &Draft, results_sorted: bool, read: &mut impl FnMut(&Piece, Level, Role) -> Part) -> Self {
        let mut placement = Self::heads(draft, read);
        placement.extend(&draft.messages, results_sorted, read);
        placement
    }

    /// The parts of the levels above the messages.
    pub fn heads(draft: &Draft, read: &mut impl FnMut(&Piece, Level, Role) -> Part) -> Self {
        let mut placed = Vec::with_capacity(draft.tools.len() + draft.system.len() + draft.messages.len() * 2);
        for (level, pieces) in [(Level::Tools, &draft.tools), (Level::System, &draft.system)] {
            let part = |(item, piece)| Placed::new(read(piece, level, Role::None), level, item);
            placed.extend(pieces.iter().enumerate().map(part));
        }
        Self { placed, tools: draft.tools.len(), messages: Vec::new() }
    }

    /// Adds the messages of `all` that are not placed yet.
    pub fn extend(
        &mut self,
        all: &[Rc<Message>],
        results_sorted: bool,
        read: &mut impl FnMut(&Piece, Level, Role) -> Part,
    ) {
        let mut calls = self.messages.last().map(|(_, calls)| *calls).unwrap_or_default();
        for (item, message) in all.iter().enumerate().skip(self.messages.len()) {
            let from = self.placed.len();
            self.place(message, item, read);
            if results_sorted {
                calls.sort_results(&mut self.placed, from);
            }
            self.messages.push((self.placed.len(), calls));
        }
    }

    /// Places the parts of a message.
    fn place(&mut self, message: &Message, item: usize, read: &mut impl FnMut(&Piece, Level, Role) -> Part) {
        let role = spoken(message.role);
        for (index, piece) in message.content.iter().enumerate() {
            let part = Part { index: number(index), ..read(piece, Level::Messages, role) };
            self.placed.push(Placed::new(part, Level::Messages, item));
        }
    }

    /// Keeps the first `messages` messages and everything before them.
    pub fn keep(&mut self, messages: usize) {
        self.placed.truncate(self.start(messages));
        self.messages.truncate(messages);
    }

    fn start(&self, message: usize) -> usize {
        let heads = self.placed.partition_point(|placed| placed.place.level < Level::Messages);
        message.checked_sub(1).and_then(|before| self.messages.get(before)).map_or(heads, |(end, _)| *end)
    }

    /// The parts with these marks on them.
    pub fn marked(mut self, marks: &[Mark]) -> Vec<Placed> {
        for mark in marks {
            let (from, to) = match mark.level {
                Level::Tools => (0, self.tools),
                Level::System => (self.tools, self.start(0)),
                Level::Messages if mark.item < self.messages.len() => {
                    (self.start(mark.item), self.start(mark.item + 1))
                }
                Level::Messages => continue,
            };
            let here = |placed: &&mut Placed| {
                (placed.place.item as usize, placed.place.part as usize) == (mark.item, mark.part)
            };
            if let Some(placed) = self.placed[from..to].iter_mut().find(here) {
                placed.part.marker = Some(mark.ttl);
            }
        }
        self.placed
    }
}

/// The role that a reader of the body would find.
pub(super) fn spoken(role: Role) -> Role {
    if role == Role::None { Role::Other } else { role }
}
