//! A lock in the making, in which each block and each prefix is once.

use super::{Block, Digest, Lock, Node, NodeAt};
use crate::wire::{Index, Level, Place, number};

#[derive(Debug, Default)]
pub(super) struct Pool {
    pub lock: Lock,
    by_digest: Index<Digest, u32>,
    nodes: Index<(Option<NodeAt>, u32, Place), NodeAt>,
}

impl Pool {
    /// The number of a block; the first one with its digest is kept.
    pub fn block(&mut self, block: Block) -> u32 {
        let blocks = &mut self.lock.blocks;
        *self.by_digest.get_or_insert_with(block.digest, || {
            blocks.push(block);
            number(blocks.len() - 1)
        })
    }

    /// The number of a prefix.
    pub fn node(&mut self, node: Node) -> NodeAt {
        let nodes = &mut self.lock.nodes;
        *self.nodes.get_or_insert_with((node.parent, node.block, node.place), || {
            nodes.push(node);
            number(nodes.len() - 1)
        })
    }

    /// Digests of the levels of a path.
    pub fn levels(&self, path: &(impl Iterator<Item = NodeAt> + Clone)) -> [Option<Digest>; 3] {
        Level::ALL.map(|level| {
            let nodes = path.clone().map(|node| &self.lock.nodes[node as usize]);
            let of_level = nodes.filter(|node| node.place.level == level);
            let mut digests = of_level.map(|node| self.lock.blocks[node.block as usize].digest).peekable();
            digests.peek().is_some().then(|| Digest::sequence(digests))
        })
    }
}
