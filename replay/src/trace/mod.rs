//! Serving traces: requests whose content is known by ids of blocks (or is text that was cut into blocks), with instants and
//! sizes, and without cache usage.
//!
//! A trace stores for each request how much of the previous one it repeats and what it adds, so that the memory of a long
//! conversation is that of its new blocks.

mod radix;
mod runs;
mod sends;
mod turns;

use std::sync::Arc;

use forkcast_sim::time::{Duration, Instant};

pub(crate) use radix::{PrefixRun, Prompts};
pub(crate) use runs::Runs;
pub use sends::{PromptSizes, Rest, Sends};
pub use turns::{Break, BreakPlace, Turn, turns};

/// The zero of a trace's instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of the trace: dates and their prices are unknown.
    Start,
    /// The Unix epoch.
    Unix,
}

/// The requests that share the ids of a trace's blocks, and that could share a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdScope {
    /// Each conversation and its sub-agents: it is unknown whether two conversations share content.
    Conversation,
    /// All requests of the trace.
    Trace,
}

/// The tokens of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// The same for all; a last block that is not full has the rest of the prompt's size.
    Equal(u64),
    /// Block number `i` has `sizes[i]`.
    Each(Vec<u64>),
}

/// A text that became a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// Hash of the text: equal ones mean equal texts, in any trace.
    pub digest: u64,
    /// Its length.
    pub bytes: u64,
}

/// One trace: a conversation with its sub-agents, or many that share the ids of their blocks.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its id; empty if it has none.
    pub id: String,
    /// The zero of its instants.
    pub clock: Clock,
    /// The requests that share ids of blocks.
    pub scope: IdScope,
    /// Tokens of blocks.
    pub sizes: BlockSizes,
    /// The texts of blocks, by id of the block; empty if the trace has only ids.
    pub texts: Vec<TextBlock>,
    /// A main agent before those that it started.
    pub conversations: Vec<Conversation>,
}

/// The requests of one agent, or of all agents if the trace does not distinguish them.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Its id; empty if it has none.
    pub id: String,
    /// Index of the conversation that started it, within the trace.
    pub parent: Option<usize>,
    /// Tokens of its tools, the first part of each prompt; zero if unknown.
    pub tool_tokens: u64,
    /// Tokens of its system prompt, which follows the tools; zero if unknown.
    pub system_tokens: u64,
    /// In order of time.
    pub requests: Vec<TraceRequest>,
}

/// One request of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// Position among all requests of the file, in the file's order.
    pub index: usize,
    /// Line of the file, counted from one.
    pub line: usize,
    /// When it was sent.
    pub at: Instant,
    /// The time until the end of the answer; `None` if unknown.
    pub api_time: Option<Duration>,
    /// The time until its first byte; `None` if unknown.
    pub first_byte_time: Option<Duration>,
    /// The time that the client waited before it; `None` if unknown.
    pub think_time: Option<Duration>,
    /// The model as spelled; `None` if the trace names none.
    pub model: Option<Arc<str>>,
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// The number of leading blocks that it shares with the conversation's previous request.
    pub kept: usize,
    /// The blocks after them.
    pub added: Vec<u64>,
}

impl TraceRequest {
    /// The number of blocks of its prompt.
    pub fn blocks(&self) -> usize {
        self.kept + self.added.len()
    }
}

impl Conversation {
    /// The number of requests that are older than the previous one.
    pub(crate) fn late_requests(&self) -> usize {
        self.requests.windows(2).filter(|pair| pair[1].at < pair[0].at).count()
    }

    /// Sorts requests by time. The blocks that a request keeps and adds are relative to the previous one, so whole prompts are
    /// restored first and the differences computed again.
    pub(crate) fn sort_by_time(&mut self) {
        let mut prompt: Vec<u64> = Vec::new();
        let mut whole: Vec<(TraceRequest, Vec<u64>)> = Vec::with_capacity(self.requests.len());
        for request in self.requests.drain(..) {
            prompt.truncate(request.kept);
            prompt.extend_from_slice(&request.added);
            whole.push((request, prompt.clone()));
        }
        whole.sort_by_key(|(request, _)| (request.at, request.index));
        let mut steps = Steps::default();
        for (request, prompt) in whole {
            let (kept, added) = steps.step(prompt);
            self.requests.push(TraceRequest { kept, added, ..request });
        }
    }
}

impl Trace {
    /// The number of requests.
    pub fn requests(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.requests.len()).sum()
    }

    /// The number of whole blocks of a conversation's tools, and of its tools and system prompt together.
    pub(crate) fn head_blocks(&self, conversation: &Conversation) -> [usize; 2] {
        let BlockSizes::Equal(tokens) = self.sizes else { return [0, 0] };
        let whole = |sum: u64| usize::try_from(sum / tokens.max(1)).unwrap_or(usize::MAX);
        [conversation.tool_tokens, conversation.tool_tokens + conversation.system_tokens].map(whole)
    }

    /// Tokens of the first `blocks` blocks of a prompt with those ids; at most the whole prompt.
    pub fn tokens_of(&self, blocks: &[u64], input_tokens: u64) -> u64 {
        let sum = match &self.sizes {
            BlockSizes::Equal(tokens) => tokens * blocks.len() as u64,
            BlockSizes::Each(sizes) => blocks.iter().map(|block| size_of_block(sizes, *block)).sum(),
        };
        sum.min(input_tokens)
    }
}

fn size_of_block(sizes: &[u64], block: u64) -> u64 {
    usize::try_from(block).ok().and_then(|block| sizes.get(block)).copied().unwrap_or(0)
}

/// The number of leading elements that two prompts share.
pub(crate) fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Converts whole prompts to the blocks that each repeats and adds.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    previous: Vec<u64>,
}

impl Steps {
    /// The number of leading blocks that the prompt shares with the previous one, and the blocks after them.
    pub fn step(&mut self, blocks: Vec<u64>) -> (usize, Vec<u64>) {
        let kept = common(&self.previous, &blocks);
        let added = blocks[kept..].to_vec();
        self.previous = blocks;
        (kept, added)
    }
}
