//! Moves requests to a fresh wire, so that the unused rest of the old one can be dropped.

use std::collections::BTreeMap;

use super::block::{BlockId, Blocks, Content};
use super::head::model_key;
use super::intake::Wire;
use super::marker::Marker;
use super::prefix::NodeId;
use super::request::{ExcludedBlock, Request};

/// Prefixes of an old wire and their counterparts in a new one.
#[derive(Clone, Debug, Default)]
pub struct Moved(BTreeMap<NodeId, NodeId>);

impl Moved {
    /// The counterpart of `node`, if it moved.
    pub fn get(&self, node: NodeId) -> Option<NodeId> {
        self.0.get(&node).copied()
    }

    /// All moved prefixes, old and new, in order of their first appearance, including roots.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.0.iter().map(|(old, new)| (*old, *new))
    }
}

impl Wire {
    /// Takes over a request that was read into `from` in `scope`: the same blocks, places and breakpoints in this wire.
    /// `moved` collects its prefixes; those already in it are not read again.
    pub fn adopt(&mut self, from: &Self, request: &Request, scope: &str, moved: &mut Moved) -> Request {
        let root = self.prefixes.root(scope, model_key(&request.model, request.resolved));
        if from.prefixes.counts_each_block(request.root) {
            self.prefixes.count_each_block(root);
        }
        moved.0.insert(request.root, root);
        let mut end = root;
        let mut nodes = Vec::with_capacity(request.nodes.len());
        for old in &request.nodes {
            end = match (moved.get(*old), from.prefixes.block(*old)) {
                (Some(known), _) => known,
                (None, Some(block)) => {
                    let block = intern(&mut self.blocks, &from.blocks, block);
                    let (node, _) = self.prefixes.extend(end, block, from.prefixes.kind(*old));
                    moved.0.insert(*old, node);
                    node
                }
                (None, None) => end,
            };
            nodes.push(end);
        }
        let here = |node: NodeId| moved.get(node).unwrap_or(root);
        let markers = request.markers.iter().map(|marker| Marker { node: here(marker.node), ..*marker }).collect();
        let excluded = request.excluded.iter();
        let excluded =
            excluded.map(|out| ExcludedBlock { block: intern(&mut self.blocks, &from.blocks, out.block), ..*out });
        Request { root, nodes, markers, excluded: excluded.collect(), ..request.clone() }
    }

    /// Bytes that blocks and prefixes take, without their indices.
    pub fn total_bytes(&self) -> usize {
        self.blocks.total_bytes() + self.prefixes.total_bytes()
    }
}

fn intern(blocks: &mut Blocks, from: &Blocks, block: BlockId) -> BlockId {
    blocks.intern(Content {
        level: from.level(block),
        role: from.role(block),
        kind: from.kind(block),
        bytes: from.bytes(block),
    })
}
