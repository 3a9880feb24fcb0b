//! A chain's last draft: the next one is processed from the first difference on.
//!
//! A draft that adds two messages to three hundred shares those three hundred with the previous draft, as the same
//! pointers. The trail holds them, so they cannot change, and the earlier result is copied instead of looked up. If a
//! message differs only after the blocks that siblings share ([`Pieces::shared`](super::Pieces::shared)), these are not
//! looked up either.

use std::rc::Rc;

use super::block::BlockId;
use super::draft::{Draft, Message};
use super::draft_parts::DraftParts;
use super::intake::Wire;
use super::piece::{Piece, WeakIdentity};
use super::prefix::NodeId;
use super::request::Request;

/// A chain's last draft and how a wire processed it. It only saves work: with the trail of another chain, scope or
/// wire, or with none, the requests are the same.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    wire: WeakIdentity,
    tools: Rc<[Piece]>,
    system: Rc<[Piece]>,
    messages: Vec<Rc<Message>>,
    placement: DraftParts,
    path: Path,
    /// Whether results are placed in the order of their calls, which a model of another platform changes.
    sorted: bool,
}

/// A path of prefixes that is likely to be walked again.
#[derive(Clone, Debug, Default)]
pub struct Path {
    root: Option<NodeId>,
    steps: Vec<(BlockId, NodeId)>,
    walked: usize,
}

impl Path {
    /// Returns to the beginning, below `root`.
    pub fn begin(&mut self, root: NodeId) {
        self.walked = 0;
        if self.root.replace(root) != Some(root) {
            self.steps.clear();
        }
    }

    /// The next prefix, if the path continues with `block`; else the path ends here.
    pub fn next(&mut self, block: BlockId) -> Option<NodeId> {
        match self.steps.get(self.walked) {
            Some((next, node)) if *next == block => {
                self.walked += 1;
                Some(*node)
            }
            _ => {
                self.steps.truncate(self.walked);
                None
            }
        }
    }

    /// Extends the path at its end.
    pub fn push(&mut self, block: BlockId, node: NodeId) {
        self.steps.push((block, node));
        self.walked = self.steps.len();
    }
}

impl Wire {
    /// Takes a draft like [`Wire::take`]: the same request for less work if `trail` holds the chain's last draft.
    pub fn take_after(&mut self, draft: &Draft, scope: &str, trail: &mut Trail) -> Request {
        let head = draft.head();
        let sorted = head.sorts_results(self.forms());
        if trail.sorted != sorted {
            *trail = Trail::default();
        }
        trail.keep_shared(draft, self);
        trail.sorted = sorted;
        trail.placement.extend(&draft.messages, sorted, &mut |piece: &_, level, role| self.part(piece, level, role));
        trail.extend_messages(draft);
        let placed = trail.placement.clone().marked(&draft.marks);
        self.request(head, placed, scope, Some(&mut trail.path))
    }
}

impl Trail {
    /// Whether it holds the very tools and system prompt of `draft`.
    pub fn has_heads_of(&self, draft: &Draft) -> bool {
        Rc::ptr_eq(&self.tools, &draft.tools) && Rc::ptr_eq(&self.system, &draft.system)
    }

    /// Drops everything that `draft` does not share.
    fn keep_shared(&mut self, draft: &Draft, wire: &mut Wire) {
        if !self.has_heads_of(draft) || !self.wire.is(wire.identity()) {
            let wire_before = wire.identity().downgrade();
            let path = if self.wire.is(wire.identity()) { std::mem::take(&mut self.path) } else { Path::default() };
            let placement = DraftParts::heads(draft, &mut |piece: &_, level, role| wire.part(piece, level, role));
            let tools = Rc::clone(&draft.tools);
            let system = Rc::clone(&draft.system);
            *self = Self { wire: wire_before, tools, system, placement, path, ..Self::default() };
        }
        let pairs = self.messages.iter().zip(&draft.messages);
        let shared = pairs.take_while(|(old, new)| Rc::ptr_eq(old, new)).count();
        self.messages.truncate(shared);
        self.placement.keep(shared);
    }

    fn extend_messages(&mut self, draft: &Draft) {
        let new = &draft.messages[self.messages.len()..];
        self.messages.extend(new.iter().cloned());
    }
}
