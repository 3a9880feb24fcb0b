//! Requests of a trace for a cache with breakpoints, so that its rules, what-ifs and bounds also apply to traces.
//!
//! In the published figures a request reads everything that it shares with the previous one. A cache has entries only at
//! breakpoints, so the required ones are assumed: after the system prompt, where the request diverges from the previous one,
//! where the next one will diverge from it, and at its end. All blocks that one request adds are one position for the look-back.
//! The rest after the last whole block is written with it and never read.
//!
//! Each conversation has a tree of its own and new nodes after a change: it reads only what its previous request left.

use forkcast_sim::service::{Quote, Times};
use forkcast_sim::wire::{BlockKind, Blocks, Level, NodeId, NodeSizes, Prefixes, Sizes, Ttl};

use super::Trace;
use super::runs::Runs;
use super::turns::{Path, Turn};
use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole};

/// All prompts of a trace.
#[derive(Debug)]
pub struct Sends<'a> {
    trace: &'a Trace,
    prefixes: Prefixes,
    sizes: NodeSizes,
    /// By conversation and request.
    prompts: Vec<Vec<PromptPath>>,
}

#[derive(Debug)]
struct PromptPath {
    end: NodeId,
    system_end: NodeId,
    markers: Vec<DispatchMarker>,
}

/// How the rest after the last whole block counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// As a part of the last block.
    Written,
    /// As plain input.
    Plain,
}

impl<'a> Sends<'a> {
    /// Lays out the prompts.
    pub fn of(trace: &'a Trace) -> Self {
        let mut layout = Layout::new(trace);
        let prompts = (0..trace.conversations.len()).map(|at| layout.conversation(at)).collect();
        Self { trace, prefixes: layout.prefixes, sizes: layout.sizes, prompts }
    }

    /// The arena of the prompts.
    pub const fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Sizes of the prompt of a request.
    pub fn sizes(&self, turn: &Turn, rest: Rest) -> PromptSizes<'_> {
        let end = self.prompts[turn.conversation][turn.request].end;
        let end_tokens = (rest == Rest::Written).then_some((end, turn.input_tokens));
        PromptSizes { sizes: &self.sizes, end_tokens }
    }

    /// A request as it is sent.
    pub fn dispatch<'s>(&'s self, turn: &Turn, sizes: &'s PromptSizes<'s>, quote: &'s Quote) -> Dispatch<'s> {
        let requests = &self.trace.conversations[turn.conversation].requests;
        let sent = &requests[turn.request];
        let prompt = &self.prompts[turn.conversation][turn.request];
        Dispatch {
            prefixes: &self.prefixes,
            sizes,
            end: prompt.end,
            system_end: prompt.system_end,
            markers: &prompt.markers,
            total_tokens: sent.input_tokens,
            minimum_tokens: 0,
            ttl: Ttl::FiveMinutes,
            agent: turn.conversation,
            // Nothing is in flight: a request finds the entries of the previous one.
            times: Times::at_once(sent.at),
            model: sent.model.as_deref().unwrap_or_default(),
            output_tokens: sent.output_tokens,
            hidden: false,
            compacts: false,
            is_last: turn.request + 1 == requests.len(),
            quote,
        }
    }
}

/// Sizes of whole blocks; at the end of the prompt, that of the whole prompt.
pub struct PromptSizes<'a> {
    sizes: &'a NodeSizes,
    end_tokens: Option<(NodeId, u64)>,
}

impl Sizes for PromptSizes<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        match self.end_tokens {
            Some((end, tokens)) if end == node => tokens,
            _ => self.sizes.tokens_at(node),
        }
    }
}

struct Layout<'a> {
    trace: &'a Trace,
    blocks: Blocks,
    prefixes: Prefixes,
    sizes: NodeSizes,
    /// Numbers of nodes so far, each the id of a block that no other request has.
    added: u128,
}

/// Nodes of the latest prompt, each with the number of blocks up to its end.
type Nodes = Vec<(usize, NodeId)>;

impl<'a> Layout<'a> {
    fn new(trace: &'a Trace) -> Self {
        let (blocks, prefixes) = (Blocks::default(), Prefixes::default());
        Self { trace, blocks, prefixes, sizes: NodeSizes::default(), added: 0 }
    }

    fn conversation(&mut self, at: usize) -> Vec<PromptPath> {
        let conversation = &self.trace.conversations[at];
        let root = self.prefixes.root("trace", &at.to_string());
        let heads = self.trace.head_blocks(conversation);
        let system = heads[1];
        let mut runs = Runs::new(self.trace, conversation);
        let (mut path, mut nodes): (Path, Nodes) = (Path::default(), Vec::new());
        let mut prompts = Vec::with_capacity(conversation.requests.len());
        for (at, request) in conversation.requests.iter().enumerate() {
            path.step(self.trace, request);
            runs.step(request);
            // No other prompt has the end of a prompt without a whole block.
            nodes.truncate(nodes.partition_point(|(end, _)| (1..=request.kept).contains(end)));
            let kept = nodes.last().map_or(0, |(end, _)| *end);
            for run in runs.runs(kept..request.blocks(), heads) {
                let parent = nodes.last().map_or(root, |(_, node)| *node);
                let tokens = path.tokens(run.end).saturating_sub(path.tokens(run.start));
                let is_last = run.end == request.blocks();
                nodes.push((run.end, self.extend(parent, tokens, run.end <= system, is_last)));
            }
            let has_rest = path.tokens(request.blocks()) < request.input_tokens;
            if nodes.is_empty() || request.added.is_empty() && has_rest {
                // No other prompt has this rest, so its end needs a node of its own.
                let parent = nodes.last().map_or(root, |(_, node)| *node);
                nodes.push((request.blocks(), self.extend(parent, 0, false, true)));
            }
            let next = conversation.requests.get(at + 1).map_or(0, |next| next.kept);
            prompts.push(prompt(&nodes, root, system, [request.kept, next]));
        }
        prompts
    }

    fn extend(&mut self, parent: NodeId, tokens: u64, is_system: bool, is_last: bool) -> NodeId {
        self.added += 1;
        let level = if is_system { Level::System } else { Level::Messages };
        // Only the last node of those that one request adds is a position.
        let kind = if is_last { BlockKind::Opaque } else { BlockKind::Parameters };
        let block = self.blocks.opaque(0, self.added, kind, level);
        let (node, _) = self.prefixes.extend(parent, block, kind);
        self.sizes.declare(&self.prefixes, node, tokens);
        node
    }
}

fn prompt(nodes: &Nodes, root: NodeId, system: usize, parts: [usize; 2]) -> PromptPath {
    let node_at = |blocks: usize| {
        let at = nodes.partition_point(|(end, _)| *end < blocks);
        nodes.get(at).filter(|(end, _)| *end == blocks && blocks > 0).map(|(_, node)| *node)
    };
    let end = nodes.last().map_or(root, |(_, node)| *node);
    let system_end = node_at(system);
    let mut ends: Vec<(usize, NodeId)> = Vec::new();
    for blocks in [system, parts[0].min(parts[1]), parts[0].max(parts[1])] {
        ends.extend(node_at(blocks).map(|node| (blocks, node)));
    }
    ends.extend(nodes.last().copied());
    ends.sort_by_key(|(blocks, _)| *blocks);
    ends.dedup();
    let marker = |(_, node): (usize, NodeId)| {
        let role = match node {
            node if Some(node) == system_end => MarkerRole::System,
            node if node == end => MarkerRole::Tail,
            _ => MarkerRole::Other,
        };
        DispatchMarker::new(node, Ttl::FiveMinutes, role)
    };
    PromptPath { end, system_end: system_end.unwrap_or(root), markers: ends.into_iter().map(marker).collect() }
}
