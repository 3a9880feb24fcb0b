//! Prefixes as nodes of an arena: equal prefixes have equal ids.
//!
//! A node is (parent, block). A hit then needs neither digest nor comparison, a fork costs nothing, and a turn costs
//! only its new content. Nodes are stored in flat vectors, so no chain of references can overflow a stack.
//!
//! Nodes also form *lines*: the first child of a node continues its line, every further child begins a new one. A line
//! is a path, so an operation of a cache on "all prefixes of this prefix" works on a few ranges of depths.

use super::block::{BlockId, BlockKind};
use super::index::Index;
use super::number::number;

/// A prefix: a root and the blocks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// A path of nodes in which each one is the first child of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(pub(crate) u32);

impl NodeId {
    /// The prefix's number, counted from zero in order of first appearance.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LineId {
    /// The line's number, counted from zero in order of first appearance.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: NodeId,
    block: BlockId,
    depth: u32,
    line: LineId,
    kind: BlockKind,
    /// Same as [`Prefixes::counts_each_block`].
    counts_each_block: bool,
    /// The child that continues the line; the node itself without one.
    first_child: NodeId,
    /// The first node of the run of blocks of one kind that ends here, up to ten thousand nodes back in a fan-out.
    run_start: NodeId,
}

/// All prefixes of a run. Each scope and model has a root of its own, so prefixes of different scopes never meet.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    nodes: Vec<Node>,
    /// Children that begin a line; other children are found through their parent.
    children: Index<(NodeId, BlockId), NodeId>,
    /// By scope, then by model.
    roots: Index<Box<str>, Index<Box<str>, NodeId>>,
    lines: Vec<Option<NodeId>>,
}

/// The block of a root: no block has this id.
const NO_BLOCK: BlockId = BlockId(u32::MAX);

impl Prefixes {
    /// The empty prompt of `model` in `scope`.
    pub fn root(&mut self, scope: &str, model: &str) -> NodeId {
        if let Some(root) = self.roots.get(scope).and_then(|models| models.get(model)) {
            return *root;
        }
        let line = self.new_line(None);
        let id = self.next_id();
        self.nodes.push(Node {
            parent: id,
            block: NO_BLOCK,
            depth: 0,
            line,
            kind: BlockKind::Parameters,
            counts_each_block: false,
            first_child: id,
            run_start: id,
        });
        self.roots.get_or_insert_with(scope.into(), Index::default).insert(model.into(), id);
        id
    }

    /// Notes that the provider of `root` counts each block as a position of a look-back; call it before `extend`.
    pub fn count_each_block(&mut self, root: NodeId) {
        self.nodes[root.0 as usize].counts_each_block = true;
    }

    /// Whether the provider of this prefix counts each block as a position of a look-back, whatever the rules say of runs
    /// (`providers.md` 8 no. 1).
    pub fn counts_each_block(&self, id: NodeId) -> bool {
        self.node(id).counts_each_block
    }

    /// The prefix `parent` followed by `block`, and whether it is new.
    pub fn extend(&mut self, parent: NodeId, block: BlockId, kind: BlockKind) -> (NodeId, bool) {
        let above = *self.node(parent);
        let id = self.next_id();
        let line = if above.first_child == parent {
            self.nodes[parent.0 as usize].first_child = id;
            above.line
        } else if self.node(above.first_child).block == block {
            return (above.first_child, false);
        } else if let Some(child) = self.children.get(&(parent, block)) {
            return (*child, false);
        } else {
            self.children.insert((parent, block), id);
            self.new_line(Some(parent))
        };
        let goes_on = above.depth > 0 && above.kind == kind;
        let run_start = if goes_on { above.run_start } else { id };
        let (depth, counts_each_block) = (above.depth + 1, above.counts_each_block);
        self.nodes.push(Node { parent, block, depth, line, kind, counts_each_block, first_child: id, run_start });
        (id, true)
    }

    /// The prefix `parent` followed by `block`, if it was ever sent.
    pub fn child(&self, parent: NodeId, block: BlockId) -> Option<NodeId> {
        let first = self.node(parent).first_child;
        if first == parent {
            return None;
        }
        if self.node(first).block == block { Some(first) } else { self.children.get(&(parent, block)).copied() }
    }

    fn next_id(&self) -> NodeId {
        NodeId(number(self.nodes.len()))
    }

    fn new_line(&mut self, branch: Option<NodeId>) -> LineId {
        let id = LineId(number(self.lines.len()));
        self.lines.push(branch);
        id
    }

    /// The prefix one block shorter; `None` at a root.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        (node.depth > 0).then_some(node.parent)
    }

    /// The last block of the prefix; `None` at a root.
    pub fn block(&self, id: NodeId) -> Option<BlockId> {
        let node = self.node(id);
        (node.depth > 0).then_some(node.block)
    }

    /// Kind of the prefix's last block.
    pub fn kind(&self, id: NodeId) -> BlockKind {
        self.node(id).kind
    }

    /// The shortest prefix from which on all blocks up to the last one have its kind: the prefix itself if the block
    /// before has another one. For a root it is the root.
    pub fn run_start(&self, id: NodeId) -> NodeId {
        self.node(id).run_start
    }

    /// How many blocks the prefix has.
    pub fn depth(&self, id: NodeId) -> u32 {
        self.node(id).depth
    }

    /// The line of the prefix.
    pub fn line(&self, id: NodeId) -> LineId {
        self.node(id).line
    }

    /// The node at which `line` branched off, before its first node; `None` for a line that begins at a root.
    pub fn branch(&self, line: LineId) -> Option<NodeId> {
        self.lines[line.0 as usize]
    }

    /// The prefix itself and its shorter ones, longest first, without the root.
    pub fn ancestors(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(from), |id| self.parent(*id)).filter(|id| self.depth(*id) > 0)
    }

    /// Number of prefixes, including roots.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no prefix.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes of the nodes, without the index.
    pub fn total_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

/// How many prefixes two paths have in common. Equal prefixes have equal ids, so after the first difference all longer
/// ones differ too.
pub fn shared_nodes(older: &[NodeId], newer: &[NodeId]) -> usize {
    let mut same = 0;
    let mut other = older.len().min(newer.len());
    while same < other {
        let middle = same + (other - same) / 2;
        if older[middle] == newer[middle] {
            same = middle + 1;
        } else {
            other = middle;
        }
    }
    same
}
