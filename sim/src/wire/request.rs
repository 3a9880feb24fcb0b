//! A request as the cache and the diagnosis see it: a path of prefixes, places and breakpoints.

use std::sync::Arc;

use super::address::Addresses;
use super::block::BlockId;
use super::level::{Level, Place};
use super::maker::Maker;
use super::marker::{Marker, Ttl};
use super::model::Resolved;
use super::prefix::NodeId;

/// A block that is sent but is no part of the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcludedBlock {
    /// Where it stood.
    pub place: Place,
    /// The block.
    pub block: BlockId,
    /// Why it does not count.
    pub why: ExcludedWhy,
}

/// Why a sent block is no part of the prompt's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcludedWhy {
    /// A client's `x-anthropic-billing-header` text.
    BillingHeader,
    /// A tool with `defer_loading`.
    DeferredTool,
    /// Thinking that the model does not keep over a user turn.
    StrippedThinking,
    /// What stands before the summary by which the provider replaced it.
    Compacted,
}

/// A breakpoint that the provider refuses, with the block's kind for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMarker {
    /// Where the marked block stood.
    pub place: Place,
    /// What is wrong with it.
    pub why: BadMarkerWhy,
}

/// Why a block cannot carry a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadMarkerWhy {
    /// Thinking blocks have no such field.
    Thinking,
    /// A text block without text.
    EmptyText,
}

/// A top-level key of the body other than the prompt itself: raw key (without quotes) and canonical value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeField {
    /// The key.
    pub key: String,
    /// The value in the normal spelling.
    pub value: Vec<u8>,
}

/// One request, read into the arena.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model as the body (or the address) spelled it.
    pub model: String,
    /// The model that the spelling means, where the table knows it.
    pub resolved: Option<Resolved>,
    /// Whose rules it follows.
    pub maker: Maker,
    /// The empty prompt of this scope and model.
    pub root: NodeId,
    /// The prompt: each prefix from the first block to the last.
    pub nodes: Vec<NodeId>,
    /// Where the last block of each prefix stood in the body, in step with `nodes`.
    pub places: Vec<Place>,
    /// How many leading prefixes an earlier request of this scope and model had already.
    pub known: usize,
    /// Breakpoints in prompt order. The automatic one is among them.
    pub markers: Vec<Marker>,
    /// Breakpoints that the body asks for, also those on blocks outside the identity: these count towards the limit.
    pub markers_sent: usize,
    /// Breakpoints that no provider accepts.
    pub bad_markers: Vec<BadMarker>,
    /// The top-level `cache_control` and the last block's own breakpoint ask for different lifetimes.
    pub automatic_conflict: Option<(Ttl, Ttl)>,
    /// Sent blocks outside the identity.
    pub excluded: Vec<ExcludedBlock>,
    /// Top-level keys that are not prompt.
    pub envelope: Vec<EnvelopeField>,
    /// Where its parts stood in the body that was sent, where what was read is a translation.
    pub addresses: Option<Arc<Addresses>>,
}

impl Request {
    /// The whole prompt as a prefix.
    pub fn end(&self) -> NodeId {
        self.nodes.last().copied().unwrap_or(self.root)
    }

    /// The longest prefix that an earlier request of this scope and model had, if any.
    pub fn known_end(&self) -> Option<NodeId> {
        self.known.checked_sub(1).and_then(|last| self.nodes.get(last)).copied()
    }

    /// The block that a breakpoint ends.
    pub fn index_of(&self, marker: &Marker) -> Option<usize> {
        self.nodes.iter().rposition(|node| *node == marker.node)
    }

    /// The canonical value of a top-level key.
    pub fn envelope_value(&self, key: &str) -> Option<&[u8]> {
        self.envelope.iter().find(|field| field.key == key).map(|field| field.value.as_slice())
    }

    /// Whether the rules of its provider's cache are modelled: those of Anthropic are, on whatever platform. What is
    /// translated from another provider's spelling is compared, but what it would have read is not known.
    pub fn has_modelled_cache(&self) -> bool {
        self.maker == Maker::Anthropic
    }

    /// The JSON path of what stands at `place`, in the body as it was sent.
    pub fn path(&self, place: Place) -> String {
        self.addresses.as_ref().map_or_else(|| place.to_string(), |addresses| addresses.path(place))
    }

    /// The JSON path in the body as it was sent of what stands at `path` in the body that was read.
    pub fn sent_path(&self, path: String) -> String {
        self.addresses.as_ref().map(|addresses| addresses.translate(&path)).unwrap_or(path)
    }

    /// How many leading prefixes belong to levels above `level`.
    pub fn level_start(&self, level: Level) -> usize {
        self.places.partition_point(|place| place.level < level)
    }
}
