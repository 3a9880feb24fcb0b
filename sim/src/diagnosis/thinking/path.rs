//! Contents as prefixes: equal contents have equal numbers, so that a comparison takes one step.

use super::rejection::Edit;
use crate::wire::{BlockKind, Blocks, Level, NodeId, Place, Prefixes};

/// All contents, in a tree of their own: prompts that differ for a cache may be equal for the check.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    /// Normal forms, known by their digests.
    blocks: Blocks,
    prefixes: Prefixes,
    start: NodeId,
    /// Where the last block of each content was when it was first seen.
    places: Vec<Place>,
}

impl Default for Paths {
    fn default() -> Self {
        let mut prefixes = Prefixes::default();
        let start = prefixes.root("", "");
        Self { blocks: Blocks::default(), prefixes, start, places: vec![Place::head(Level::Tools)] }
    }
}

impl Paths {
    /// No content.
    pub const fn start(&self) -> NodeId {
        self.start
    }

    /// The content `before` followed by the content with this digest.
    pub fn step(&mut self, before: NodeId, digest: u128, place: Place) -> NodeId {
        let kind = BlockKind::Opaque;
        let block = self.blocks.opaque(0, digest, kind, place.level);
        let (node, is_new) = self.prefixes.extend(before, block, kind);
        if is_new {
            self.places.push(place);
        }
        node
    }

    /// The first step of a content.
    pub fn first(&self, content: NodeId) -> NodeId {
        let before = |node: &NodeId| self.prefixes.parent(*node).filter(|before| *before != self.start);
        std::iter::successors(Some(content), before).last().unwrap_or(content)
    }

    /// The first place at which `now` differs from `then`; `None` if they are equal.
    pub fn difference(&self, then: NodeId, now: NodeId) -> Option<Edit> {
        let mut then = Some(then);
        let mut now = Some(now);
        let mut first = None;
        while then != now {
            let depths = [then, now].map(|node| node.map(|node| self.prefixes.depth(node)));
            let deepest = depths.into_iter().max().flatten();
            let [was, is] =
                [(then, depths[0]), (now, depths[1])].map(|(node, depth)| node.filter(|_| depth == deepest));
            first = match (was, is) {
                (_, Some(is)) => Some(Edit::Differs(self.places[is.index()])),
                (Some(was), None) => Some(Edit::Missing(self.places[was.index()])),
                (None, None) => return first,
            };
            then = was.map_or(then, |node| self.prefixes.parent(node));
            now = is.map_or(now, |node| self.prefixes.parent(node));
        }
        first
    }
}
