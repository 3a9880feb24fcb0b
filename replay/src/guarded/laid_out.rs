//! Requests of which no body is known, laid out as the guard takes them: blocks at their places, and where breakpoints are
//! taken to stand.

use forkcast_sim::guard::Breakpoints;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{Resolved, Vendor, resolve};
use forkcast_sim::wire::{
    BlockId, EnvelopeField, Marker, NodeId, OPENAI_SETTINGS, OTHER_SETTINGS, Place, Request, Ttl, Wire,
};

/// The model of a request, as far as it decides what is taken for its cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<'a> {
    /// As spelled; empty where none is named.
    pub name: &'a str,
    pub resolved: Option<Resolved>,
}

impl<'a> Model<'a> {
    pub fn new(name: &'a str) -> Self {
        Self { name, resolved: resolve(name) }
    }

    pub fn vendor(&self) -> Option<Vendor> {
        self.resolved.map(|resolved| resolved.id.row().vendor)
    }

    /// Whether its cache has a profile.
    pub fn is_profiled(&self) -> bool {
        self.vendor() == Some(Vendor::Anthropic)
    }

    /// When a request of these instants was sent and its first byte came. Where no lifetimes are known all come at once, so
    /// that nothing expires.
    pub fn times(&self, at: Instant, first_byte_at: Instant) -> (Instant, Instant) {
        if self.is_profiled() { (at, first_byte_at) } else { Default::default() }
    }
}

/// Where breakpoints are taken to stand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Marked {
    /// On the first block, which is what the transcript hides, and on the last.
    Ends(Ttl),
    /// Where a provider looks that places them itself ([`Breakpoints::Automatic`]).
    Automatic,
}

/// The request of `blocks`, of which there is one at least.
pub(super) fn request(
    wire: &mut Wire,
    scope: &str,
    model: Model<'_>,
    blocks: impl Iterator<Item = (BlockId, Place)>,
    marked: Marked,
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
        root,
        known,
        markers_sent: 0,
        markers: Vec::new(),
        nodes,
        places,
        bad_markers: Vec::new(),
        automatic_conflict: None,
        excluded: Vec::new(),
        envelope: envelope(model),
        body_bytes: 0,
        addresses: None,
    };
    match marked {
        Marked::Ends(ttl) => mark_ends(&mut request, ttl),
        Marked::Automatic => Breakpoints::Automatic.apply(&mut request),
    }
    request
}

fn mark_ends(request: &mut Request, ttl: Ttl) {
    let mut ends = vec![0, request.nodes.len().saturating_sub(1)];
    ends.dedup();
    let marker = |at: &usize| {
        let (node, place) = (*request.nodes.get(*at)?, *request.places.get(*at)?);
        Some(Marker { node, ttl, place, automatic: false })
    };
    request.markers = ends.iter().filter_map(marker).collect();
    request.markers_sent = request.markers.len();
}

/// The mark of a request to others than Anthropic, by which it is known who diagnoses its cache.
fn envelope(model: Model<'_>) -> Vec<EnvelopeField> {
    let key = match model.vendor() {
        Some(Vendor::Anthropic) => return Vec::new(),
        Some(Vendor::OpenAi) => OPENAI_SETTINGS,
        _ => OTHER_SETTINGS,
    };
    vec![EnvelopeField { key: key.to_owned(), value: b"{}".to_vec() }]
}
