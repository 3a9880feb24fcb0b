//! The pieces of a draft as parts at their places.

use std::rc::Rc;

use super::block::BlockKind;
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
    /// For each message: where its parts end, and the last calls up to there.
    messages: Vec<(usize, LastCalls)>,
    /// Parts of the message behind these that are placed already.
    begun: usize,
}

impl DraftParts {
    /// The parts of `draft`, as `read` reads its pieces.
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
        Self { placed, tools: draft.tools.len(), messages: Vec::new(), begun: 0 }
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
            let begun = std::mem::take(&mut self.begun);
            let from = self.placed.len() - begun;
            self.place(message, item, begun, read);
            let moves = |kind| self.placed[from + begun..].iter().any(|placed| placed.part.kind == kind);
            if begun > 0 && moves(BlockKind::ToolUse) {
                // Behind a call the results before it stand as they were sent.
                self.placed.truncate(from);
                self.place(message, item, 0, read);
            } else if results_sorted && (begun == 0 || moves(BlockKind::ToolResult)) {
                calls.sort_results(&mut self.placed, from);
            }
            self.messages.push((self.placed.len(), calls));
        }
    }

    /// Places the parts of a message from the one with index `from` on.
    fn place(
        &mut self,
        message: &Message,
        item: usize,
        from: usize,
        read: &mut impl FnMut(&Piece, Level, Role) -> Part,
    ) {
        let role = spoken(message.role);
        for (index, piece) in message.content.iter().enumerate().skip(from) {
            let part = Part { index: number(index), ..read(piece, Level::Messages, role) };
            self.placed.push(Placed::new(part, Level::Messages, item));
        }
    }

    /// Keeps the first `messages` messages and what stands before them; of the next message its first `parts` parts, where
    /// they stand as they would without what follows them in it.
    pub fn keep(&mut self, messages: usize, parts: usize) {
        let from = self.start(messages);
        let end = self.messages.get(messages).map_or(from, |(end, _)| *end);
        let (head, own) = self.placed[from..end].split_at(parts.min(end - from));
        let has = |placed: &[Placed], kind| placed.iter().any(|placed| placed.part.kind == kind);
        let calls = has(head, BlockKind::ToolUse) || has(own, BlockKind::ToolUse);
        self.begun = if calls || has(own, BlockKind::ToolResult) { 0 } else { head.len() };
        self.messages.truncate(messages);
        self.placed.truncate(from + self.begun);
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

/// The role that a reader of the body finds.
pub(super) fn spoken(role: Role) -> Role {
    if role == Role::None { Role::Other } else { role }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Draft, DraftParts, Message, Role};
    use crate::wire::{Piece, Pieces, Wire};

    const SHARED: usize = 100;

    fn draft(shared: &Pieces, directive: &str) -> Draft {
        let mut content = shared.clone();
        content.push(Piece::text(directive));
        Draft {
            model: "claude-opus-5-5".into(),
            tools: Rc::from([]),
            system: Rc::from([]),
            messages: vec![Rc::new(Message { role: Role::User, content })],
            parameters: Rc::from([]),
            marks: Vec::new(),
        }
    }

    #[test]
    fn of_a_sibling_only_its_own_blocks_are_looked_at() {
        let result = |at| Piece::tool_result(&format!("toolu_{at}"), "started", false);
        let shared = Pieces::shared((0..SHARED).map(result).collect());
        let (mut wire, mut looks) = (Wire::default(), 0);
        let mut look = |piece: &_, level, role| {
            looks += 1;
            wire.part(piece, level, role)
        };
        let mut placement = DraftParts::of(&draft(&shared, "one"), true, &mut look);
        for sibling in ["two", "three"] {
            placement.keep(0, SHARED);
            placement.extend(&draft(&shared, sibling).messages, true, &mut look);
        }
        assert_eq!(looks, SHARED + 3);
    }
}
