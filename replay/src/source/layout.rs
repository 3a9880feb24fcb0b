//! Requests without a known body, laid out for the guard: blocks at their places, and assumed breakpoints.

use forkcast_sim::guard::Breakpoints;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{Resolved, resolve};
use forkcast_sim::wire::{BlockId, Maker, NodeId, Place, Request, Wire};

/// The model of a request, which decides its cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model<'a> {
    /// As spelled; empty if none is named.
    pub name: &'a str,
    pub resolved: Option<Resolved>,
}

impl<'a> Model<'a> {
    pub fn new(name: &'a str) -> Self {
        Self { name, resolved: resolve(name) }
    }

    /// The maker whose rules its requests follow.
    pub fn maker(&self) -> Maker {
        Maker::of_vendor(self.resolved.map(|resolved| resolved.id.row().vendor))
    }

    /// Whether its cache has a profile.
    pub fn is_profiled(&self) -> bool {
        self.maker() == Maker::Anthropic
    }

    /// When a request was sent and when its first byte arrived. If no lifetimes are known all requests are sent at once, so
    /// that nothing expires.
    pub fn times(&self, at: Instant, first_byte_at: Instant) -> (Instant, Instant) {
        if self.is_profiled() { (at, first_byte_at) } else { Default::default() }
    }
}

/// The request of `blocks`; there must be at least one.
pub(crate) fn request(
    wire: &mut Wire,
    scope: &str,
    model: Model<'_>,
    blocks: impl Iterator<Item = (BlockId, Place)>,
    breakpoints: Breakpoints,
) -> Request {
    let root = wire.prefixes.root(scope, model.resolved.map_or(model.name, |resolved| resolved.id.row().id));
    let (mut nodes, mut places, mut known, mut end) = (Vec::<NodeId>::new(), Vec::new(), 0, root);
    for (block, place) in blocks {
        let (node, new) = wire.prefixes.extend(end, block, wire.blocks.kind(block));
        known += usize::from(!new);
        nodes.push(node);
        places.push(place);
        end = node;
    }
    let mut request = Request {
        model: model.name.to_owned(),
        resolved: model.resolved,
        maker: model.maker(),
        root,
        known,
        markers_sent: 0,
        markers: Vec::new(),
        nodes,
        places,
        bad_markers: Vec::new(),
        missing_tool: None,
        automatic_conflict: None,
        excluded: Vec::new(),
        envelope: Vec::new(),
        addresses: None,
    };
    breakpoints.apply(&mut request);
    if let Breakpoints::Implied(_) = breakpoints {
        // They count as sent by the client.
        request.markers_sent = request.markers.len();
    }
    request
}
