//! The same conversations, compacted by the client as soon as a prompt has so many tokens.
//!
//! The client first asks for a summary: the same prompt with an instruction after it. Then a summary and the files that the
//! client reads again replace the conversation, after tools and system prompt, which can still be read from the cache. The
//! prompts that follow begin with that summary, until one is too long again. The first request of an agent is never
//! compacted: it would have nothing to summarise, and that of a fork is its siblings' (contract COMPACT-11). A recorded
//! compaction for which no prompt is long enough any more is left out; its sessions' own short prompts stay.
//!
//! Sizes are those of Claude Code (`observed.md` 9). Instants stay, so a compaction takes no time. The answers stay too,
//! although an agent that has forgotten something may read it again: that cost is not in the figure.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::wire::{BlockId, BlockKind, Blocks, Level, Marker, NodeId, Prefixes};

use super::bound::sized;
use crate::rebuild::{Dispatch, DispatchMarker, Tokens};

/// Tokens after the hidden prefix: the summary, the user's files and what is read again. The median of 34 compactions.
pub const KEPT_TOKENS: u64 = 22_400;

/// Tokens of the answer to the client's instruction: the median of the same summaries, by their length.
pub const SUMMARY_TOKENS: u64 = 3_300;

/// Tokens of the instruction: four of five recorded requests had between 2,154 and 3,263 more than the prompt before them.
pub const INSTRUCTION_TOKENS: u64 = 2_170;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    at_tokens: u64,
    prefixes: Prefixes,
    blocks: Blocks,
    /// The session's blocks, as they are numbered here.
    known: BTreeMap<BlockId, BlockId>,
    sizes: Tokens,
    cuts: Vec<Cut>,
    /// Agents that have sent something.
    begun: BTreeSet<usize>,
}

/// Why something is sent, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The session has it.
    Request,
    /// The session has it, but it would not have been sent.
    Nothing,
    /// The client compacts. No session has it; it is billed with the request that follows it.
    Summary,
}

/// What a summary replaces.
#[derive(Debug)]
struct Cut {
    /// The blocks after the system prompt.
    replaced: Vec<BlockId>,
    summary: BlockId,
}

/// A prompt as the session has it.
struct Recorded {
    root: NodeId,
    /// Tools and system prompt, then the conversation, each shortest first.
    head: Vec<NodeId>,
    conversation: Vec<NodeId>,
}

/// The same prompt here.
struct Compacted {
    /// The root, then tools and system prompt.
    head: Vec<NodeId>,
    /// How many blocks of the recorded conversation precede what is in `rest`.
    left_out: usize,
    /// The summary, if there is one, and the conversation after it.
    rest: Vec<NodeId>,
    markers: Vec<DispatchMarker>,
    total_tokens: u64,
}

impl Compaction {
    pub fn new(at_tokens: u64) -> Self {
        Self { at_tokens, ..Self::default() }
    }

    pub const fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Calls `serve` with the request for a summary, if one is due, and then with the request itself.
    pub fn convert(&mut self, sent: &Dispatch<'_>, mut serve: impl FnMut(Purpose, &Dispatch<'_>)) {
        if sent.compacts && sent.total_tokens >= self.at_tokens && !self.cuts.is_empty() {
            serve(Purpose::Nothing, sent);
            return;
        }
        let recorded = Recorded::of(sent);
        let mut compacted = self.prompt(sent, &recorded);
        if self.is_due(sent, &recorded, &compacted) {
            let summary = Dispatch {
                total_tokens: compacted.total_tokens + INSTRUCTION_TOKENS,
                output_tokens: SUMMARY_TOKENS,
                hidden: true,
                ..self.dispatch(sent, &compacted)
            };
            serve(Purpose::Summary, &summary);
            self.cut(sent, &recorded);
            compacted = self.prompt(sent, &recorded);
        }
        serve(Purpose::Request, &self.dispatch(sent, &compacted));
    }

    /// Calls `extend` with the request and the prefixes `floor` and `node` of it. Nothing happens if a summary replaces one.
    pub fn extend(
        &mut self,
        sent: &Dispatch<'_>,
        [floor, node]: [NodeId; 2],
        extend: impl FnOnce(&Dispatch<'_>, NodeId, NodeId),
    ) {
        let compacted = self.prompt(sent, &Recorded::of(sent));
        let here = |node| compacted.node(sent.prefixes, node);
        if let (Some(floor), Some(node)) = (here(floor), here(node)) {
            extend(&self.dispatch(sent, &compacted), floor, node);
        }
    }

    /// Whether the client compacts before this request. A prompt that would not become shorter stays as it is.
    fn is_due(&mut self, sent: &Dispatch<'_>, recorded: &Recorded, compacted: &Compacted) -> bool {
        let goes_on = !sent.hidden && !self.begun.insert(sent.agent);
        let left = sized(sent, sent.system_end) + KEPT_TOKENS;
        goes_on
            && !recorded.conversation.is_empty()
            && compacted.total_tokens >= self.at_tokens
            && left < self.at_tokens
    }

    fn cut(&mut self, sent: &Dispatch<'_>, recorded: &Recorded) {
        let summary = self.blocks.opaque(1, self.cuts.len() as u128, BlockKind::Text, Level::Messages);
        self.cuts.push(Cut { replaced: recorded.blocks(sent).collect(), summary });
    }

    /// The latest cut that this conversation goes on from: a rewind to before it brings back what it had replaced.
    fn cut_of(&self, sent: &Dispatch<'_>, recorded: &Recorded) -> Option<&Cut> {
        let goes_on_from = |cut: &&Cut| {
            cut.replaced.len() <= recorded.conversation.len()
                && recorded.blocks(sent).zip(&cut.replaced).all(|(block, replaced)| block == *replaced)
        };
        self.cuts.iter().rev().find(goes_on_from)
    }

    fn prompt(&mut self, sent: &Dispatch<'_>, recorded: &Recorded) -> Compacted {
        let cut = self.cut_of(sent, recorded).map(|cut| (cut.replaced.len(), cut.summary));
        let mut here = self.prefixes.root(&recorded.root.index().to_string(), sent.model);
        let mut head = vec![here];
        for node in &recorded.head {
            here = self.extended(here, sent, *node);
            self.sizes.set(here, sent.sizes.tokens_at(*node));
            head.push(here);
        }
        let mut compacted =
            Compacted { head, left_out: 0, rest: Vec::new(), markers: Vec::new(), total_tokens: sent.total_tokens };
        let mut replaced_tokens = 0;
        let mut kept_tokens = 0;
        let mut next = 0;
        if let Some((blocks, summary)) = cut {
            replaced_tokens = sized(sent, recorded.conversation[blocks - 1]);
            kept_tokens = sized(sent, sent.system_end) + KEPT_TOKENS;
            here = self.prefixes.extend(here, summary, BlockKind::Text).0;
            self.sizes.set(here, kept_tokens);
            compacted.left_out = blocks - 1;
            compacted.rest.push(here);
            compacted.total_tokens = sent.total_tokens.saturating_sub(replaced_tokens) + kept_tokens;
            next = blocks;
        }
        for node in &recorded.conversation[next..] {
            here = self.extended(here, sent, *node);
            let tokens = sent.sizes.tokens_at(*node);
            self.sizes.set(here, if tokens == 0 { 0 } else { tokens.saturating_sub(replaced_tokens) + kept_tokens });
            compacted.rest.push(here);
        }
        compacted.markers = sent.markers.iter().filter_map(|marker| compacted.moved(sent.prefixes, marker)).collect();
        compacted
    }

    fn extended(&mut self, here: NodeId, sent: &Dispatch<'_>, node: NodeId) -> NodeId {
        let Some(block) = sent.prefixes.block(node) else { return here };
        let kind = sent.prefixes.kind(node);
        let number = self.known.len() as u128;
        let block = *self.known.entry(block).or_insert_with(|| self.blocks.opaque(0, number, kind, Level::Messages));
        self.prefixes.extend(here, block, kind).0
    }

    fn dispatch<'a>(&'a self, sent: &Dispatch<'a>, compacted: &'a Compacted) -> Dispatch<'a> {
        let head = &compacted.head;
        let end = match compacted.rest.last() {
            Some(end) => *end,
            None => head[sent.prefixes.depth(sent.end) as usize],
        };
        Dispatch {
            prefixes: &self.prefixes,
            sizes: &self.sizes,
            end,
            system_end: head[head.len() - 1],
            markers: &compacted.markers,
            total_tokens: compacted.total_tokens,
            ..*sent
        }
    }
}

impl Recorded {
    fn of(sent: &Dispatch<'_>) -> Self {
        let path = |end: NodeId, above: u32| {
            let ancestors = sent.prefixes.ancestors(end);
            let mut path: Vec<NodeId> = ancestors.take_while(|node| sent.prefixes.depth(*node) > above).collect();
            path.reverse();
            path
        };
        let head = path(sent.system_end, 0);
        let first = head.first().copied().unwrap_or(sent.system_end);
        let root = sent.prefixes.parent(first).unwrap_or(first);
        Self { root, head, conversation: path(sent.end, sent.prefixes.depth(sent.system_end)) }
    }

    /// The blocks of the conversation.
    fn blocks<'a>(&'a self, sent: &'a Dispatch<'_>) -> impl Iterator<Item = BlockId> + 'a {
        self.conversation.iter().filter_map(|node| sent.prefixes.block(*node))
    }
}

impl Compacted {
    /// The prefix here that ends where `node` does; `None` within what a summary replaces.
    fn node(&self, prefixes: &Prefixes, node: NodeId) -> Option<NodeId> {
        let depth = prefixes.depth(node) as usize;
        match depth.checked_sub(self.head.len()) {
            None => Some(self.head[depth]),
            Some(blocks) => self.rest.get(blocks.checked_sub(self.left_out)?).copied(),
        }
    }

    fn moved(&self, prefixes: &Prefixes, marker: &DispatchMarker) -> Option<DispatchMarker> {
        let node = self.node(prefixes, marker.marker.node)?;
        Some(DispatchMarker { marker: Marker { node, ..marker.marker }, ..*marker })
    }
}
