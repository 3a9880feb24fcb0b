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
    /// Its position.
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
    /// Thinking that the model does not keep past a user turn.
    StrippedThinking,
    /// Messages that the provider replaced by the summary after them.
    Compacted,
}

/// A breakpoint that the provider refuses, with the block's kind for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMarker {
    /// Position of the marked block.
    pub place: Place,
    /// The error.
    pub why: BadMarkerWhy,
}

/// Why a block cannot carry a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadMarkerWhy {
    /// Thinking blocks have no such field.
    Thinking,
    /// A text block without text.
    EmptyText,
    /// A tool with deferred loading is not in the prompt.
    Deferred,
    /// A tool in a request to Amazon's Nova, which takes breakpoints in the system prompt and in messages only.
    NovaTool,
    /// One hour, which the model does not have on its platform: Claude before 4.5 and Nova on Bedrock.
    LongTtl,
    /// A model that Bedrock offers without prompt caching.
    NoCaching,
    /// A message itself; only its blocks can carry one (ax-llm/ax#517).
    OnMessage,
    /// A part of a tool result; only the whole result can carry one.
    WithinResult {
        /// Index of the part in the result's content.
        index: u32,
    },
}

/// A tool that a block names as found and that is not among the request's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTool {
    /// Position of the block.
    pub place: Place,
    /// Name of the tool.
    pub name: String,
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
    /// The model that the spelling means, if it is in the table.
    pub resolved: Option<Resolved>,
    /// The provider with the rules that it follows.
    pub maker: Maker,
    /// The empty prompt of this scope and model.
    pub root: NodeId,
    /// The prompt: each prefix from the first block to the last.
    pub nodes: Vec<NodeId>,
    /// Position in the body of the last block of each prefix, in step with `nodes`.
    pub places: Vec<Place>,
    /// How many leading prefixes an earlier request of this scope and model already had.
    pub known: usize,
    /// Breakpoints in prompt order, including the automatic one.
    pub markers: Vec<Marker>,
    /// Number of breakpoints in the body that count towards the limit, including those outside the identity.
    pub markers_sent: usize,
    /// Breakpoints that no provider accepts.
    pub bad_markers: Vec<BadMarker>,
    /// The first tool that its history names and that it does not have.
    pub missing_tool: Option<MissingTool>,
    /// The top-level `cache_control` and the last block's own breakpoint ask for different lifetimes.
    pub automatic_conflict: Option<(Ttl, Ttl)>,
    /// Sent blocks outside the identity.
    pub excluded: Vec<ExcludedBlock>,
    /// Top-level keys that are not prompt.
    pub envelope: Vec<EnvelopeField>,
    /// Positions of its parts in the body that was sent, if a translation of it was read.
    pub addresses: Option<Arc<Addresses>>,
}

impl Request {
    /// The whole prompt as a prefix.
    pub fn end(&self) -> NodeId {
        self.nodes.last().copied().unwrap_or(self.root)
    }

    /// The block that a breakpoint ends.
    pub fn index_of(&self, marker: &Marker) -> Option<usize> {
        // Prefixes are numbered in order of first appearance, so a longer one has a higher number.
        self.nodes.binary_search(&marker.node).ok()
    }

    /// Whether its model is spelled as Bedrock spells those of makers whose models it offers without prompt caching.
    pub fn is_without_caching(&self) -> bool {
        const MAKERS: [&str; 14] = [
            "ai21",
            "cohere",
            "deepseek",
            "google",
            "meta",
            "minimax",
            "mistral",
            "moonshot",
            "moonshotai",
            "nvidia",
            "openai",
            "qwen",
            "writer",
            "zai",
        ];
        // `us.meta.llama4-maverick-17b-instruct-v1:0`; the region may be missing.
        let is_plain = !self.model.contains('/');
        let maker = self.model.split('.').take(2).find(|word| MAKERS.contains(word));
        is_plain && maker.is_some_and(|maker| self.model.contains(&format!("{maker}.")))
    }

    /// Whether it goes to one of Amazon's own models, which only Bedrock has.
    pub fn is_to_nova(&self) -> bool {
        self.model.to_ascii_lowercase().contains("amazon.nova")
    }

    /// The canonical value of a top-level key.
    pub fn envelope_value(&self, key: &str) -> Option<&[u8]> {
        self.envelope.iter().find(|field| field.key == key).map(|field| field.value.as_slice())
    }

    /// Whether the cache rules of its provider are modelled: Anthropic's are, on any platform. Requests translated from
    /// another provider's spelling can be compared, but their reads cannot be predicted.
    pub fn has_modelled_cache(&self) -> bool {
        self.maker.has_modelled_cache()
    }

    /// The JSON path of the part at `place`, in the body as it was sent.
    pub fn path(&self, place: Place) -> String {
        self.addresses.as_ref().map_or_else(|| place.to_string(), |addresses| addresses.path(place))
    }

    /// The JSON path in the body as it was sent for a path in the body that was read.
    pub fn sent_path(&self, path: String) -> String {
        self.addresses.as_ref().map(|addresses| addresses.translate(&path)).unwrap_or(path)
    }

    /// The JSON path in the body as it was sent of the setting at `path` in the body that was read.
    pub fn setting_path(&self, path: &str) -> String {
        self.addresses.as_ref().map_or_else(|| path.to_owned(), |addresses| addresses.setting(path))
    }

    /// How many leading prefixes belong to levels above `level`.
    pub fn level_start(&self, level: Level) -> usize {
        self.places.partition_point(|place| place.level < level)
    }
}
