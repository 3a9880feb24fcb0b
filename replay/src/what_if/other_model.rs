//! The same prompts sent to one other model.
//!
//! Each model has its own tree of prefixes, so a conversation that changed its model is in several. Sent to one model it would be
//! in one: the trees are merged in an arena of the variant, block by block.
//!
//! If the tokenizers of the two models differ, every size is scaled by the ratio measured on recorded transcripts (`sim/tokens`):
//! an estimate, off by about a tenth for single prompts. The output is scaled too; the answer of another model is unknown.

use forkcast_sim::cache::minimum_tokens;
use forkcast_sim::wire::model::{ModelId, resolve};
use forkcast_sim::wire::{NodeId, Prefixes, Sizes};
use forkcast_tokens::{BUILT_IN, Class, Generation};

use crate::rebuild::{Dispatch, DispatchMarker};

/// See the module.
#[derive(Debug)]
pub(super) struct OtherModel {
    model: ModelId,
    prefixes: Prefixes,
    /// By number of the prefix in the session's arena.
    forward: Vec<Option<NodeId>>,
    /// By number of the prefix here: the newest prefix of the session with this content.
    back: Vec<NodeId>,
    markers: Vec<DispatchMarker>,
    missing: Vec<NodeId>,
}

impl OtherModel {
    pub fn new(model: ModelId) -> Self {
        Self {
            model,
            prefixes: Prefixes::default(),
            forward: Vec::new(),
            back: Vec::new(),
            markers: Vec::new(),
            missing: Vec::new(),
        }
    }

    pub const fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Calls `serve` with the request to the other model.
    pub fn convert(&mut self, sent: &Dispatch<'_>, serve: impl FnOnce(&Dispatch<'_>)) {
        let (end, system_end) = (self.node(sent.prefixes, sent.end), self.node(sent.prefixes, sent.system_end));
        let mut markers = std::mem::take(&mut self.markers);
        markers.clear();
        for marker in sent.markers {
            let mut marker = *marker;
            marker.marker.node = self.node(sent.prefixes, marker.marker.node);
            markers.push(marker);
        }
        let ratio = Ratio::between(sent.model, self.model);
        let sizes = Scaled { sizes: sent.sizes, back: &self.back, ratio };
        serve(&Dispatch {
            prefixes: &self.prefixes,
            sizes: &sizes,
            end,
            system_end,
            markers: &markers,
            total_tokens: ratio.of(sent.total_tokens),
            minimum_tokens: minimum_tokens(Some(self.model)),
            output_tokens: ratio.of(sent.output_tokens),
            ..*sent
        });
        self.markers = markers;
    }

    /// The prefix here with the content of `node` of the session.
    pub fn node(&mut self, from: &Prefixes, node: NodeId) -> NodeId {
        self.missing.clear();
        let mut at = node;
        let mut here = loop {
            if let Some(known) = self.forward.get(at.index()).copied().flatten() {
                break known;
            }
            match from.parent(at) {
                Some(parent) => {
                    self.missing.push(at);
                    at = parent;
                }
                None => {
                    let root = self.prefixes.root("", self.model.row().id);
                    self.map(at, root);
                    break root;
                }
            }
        };
        while let Some(node) = self.missing.pop() {
            if let Some(block) = from.block(node) {
                here = self.prefixes.extend(here, block, from.kind(node)).0;
            }
            self.map(node, here);
        }
        // Sizes are asked of the prefixes that lie in the request at hand.
        self.back[here.index()] = node;
        here
    }

    fn map(&mut self, node: NodeId, here: NodeId) {
        if self.forward.len() <= node.index() {
            self.forward.resize(node.index() + 1, None);
        }
        self.forward[node.index()] = Some(here);
        if self.back.len() <= here.index() {
            self.back.resize(here.index() + 1, node);
        }
        self.back[here.index()] = node;
    }
}

/// Tokens of one model for each of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    above: u64,
    below: u64,
}

impl Default for Ratio {
    fn default() -> Self {
        Self { above: 1, below: 1 }
    }
}

impl Ratio {
    /// 1 where both make tokens alike, or nothing is known of one.
    pub fn between(from: &str, to: ModelId) -> Self {
        let from = resolve(from).and_then(|from| Generation::of(from.id.row().tokenizer));
        match (from, Generation::of(to.row().tokenizer)) {
            (Some(from), Some(to)) => Self { above: weight(to), below: weight(from) },
            _ => Self::default(),
        }
    }

    /// `tokens` of the one as tokens of the other.
    pub fn of(self, tokens: u64) -> u64 {
        if self.above == self.below {
            return tokens;
        }
        let scaled = u128::from(tokens) * u128::from(self.above) / u128::from(self.below).max(1);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// What agents read and write: prose, code and JSON in equal parts.
fn weight(generation: Generation) -> u64 {
    [Class::Prose, Class::Code, Class::Json].map(|class| BUILT_IN.of(generation, class)).iter().sum()
}

/// Sizes of the session, scaled and asked for by prefixes of the other arena.
struct Scaled<'a> {
    sizes: &'a dyn Sizes,
    back: &'a [NodeId],
    ratio: Ratio,
}

impl Sizes for Scaled<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        self.back.get(node.index()).map_or(0, |node| self.ratio.of(self.sizes.tokens_at(*node)))
    }
}
