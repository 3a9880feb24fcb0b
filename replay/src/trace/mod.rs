//! Serving traces: requests whose content is told by the ids of blocks (or was text, and became blocks), with instants and
//! sizes, and without the usage of any cache.
//!
//! A trace keeps of each request what it repeats of the one before and what it adds, so that a long conversation costs
//! what is new in it.

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

/// What the instants of a trace are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of the trace: days and prices of a date are not known.
    Start,
    /// The Unix epoch.
    Unix,
}

/// Who shares the ids of a trace's blocks, and with them what a cache could share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdScope {
    /// Each conversation and its sub-agents: whether two conversations share content is not told.
    Conversation,
    /// All requests of the trace.
    Trace,
}

/// How many tokens a block has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// The same for all; of a last block that is not full, what the prompt's size leaves.
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
    /// Its id; empty where it has none.
    pub id: String,
    /// What instants are counted from.
    pub clock: Clock,
    /// Who shares the ids of blocks.
    pub scope: IdScope,
    /// Tokens of blocks.
    pub sizes: BlockSizes,
    /// What is known of the texts of blocks: number `i` is of block `i`. Empty where the trace has ids alone.
    pub texts: Vec<TextBlock>,
    /// A main agent before those that it started.
    pub conversations: Vec<Conversation>,
}

/// The requests of one agent, or of all of whom the trace does not tell agents apart.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Its id; empty where it has none.
    pub id: String,
    /// Index of the conversation that started it, within the trace.
    pub parent: Option<usize>,
    /// Tokens of its tools, which stand first in each prompt; zero where unknown.
    pub tool_tokens: u64,
    /// Tokens of its system prompt, which stands behind the tools; zero where unknown.
    pub system_tokens: u64,
    /// In order of time.
    pub requests: Vec<TraceRequest>,
}

/// One request of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// Position among all requests of the file, in the file's order.
    pub index: usize,
    /// Line of the file, counted from one.
    pub line: usize,
    /// When it was sent.
    pub at: Instant,
    /// How long the whole answer took; `None` where unknown.
    pub api_time: Option<Duration>,
    /// How long the first byte took; `None` where unknown.
    pub first_byte_time: Option<Duration>,
    /// How long the client waited before it; `None` where unknown.
    pub think_time: Option<Duration>,
    /// The model as spelled; `None` where the trace names none.
    pub model: Option<Arc<str>>,
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// How many leading blocks it shares with the conversation's previous request.
    pub kept: usize,
    /// The blocks behind them.
    pub added: Vec<u64>,
}

impl TraceRequest {
    /// How many blocks its prompt has.
    pub fn blocks(&self) -> usize {
        self.kept + self.added.len()
    }
}

impl Conversation {
    /// How many requests are older than the one before them.
    pub(crate) fn late_requests(&self) -> usize {
        self.requests.windows(2).filter(|pair| pair[1].at < pair[0].at).count()
    }

    /// Puts requests that were read in another order into that of time. What a request keeps and adds is a difference to the
    /// one before it, so whole prompts are put together first and the differences taken again.
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
    /// How many requests there are.
    pub fn requests(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.requests.len()).sum()
    }

    /// How many whole blocks of a conversation's prompts are of the tools, and how many of these and the system prompt.
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

/// How many leading elements two prompts share.
pub(crate) fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Turns whole prompts into what each repeats and adds.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    previous: Vec<u64>,
}

impl Steps {
    /// How many leading blocks the prompt shares with the one before, and the blocks behind them.
    pub fn step(&mut self, blocks: Vec<u64>) -> (usize, Vec<u64>) {
        let kept = common(&self.previous, &blocks);
        let added = blocks[kept..].to_vec();
        self.previous = blocks;
        (kept, added)
    }
}
