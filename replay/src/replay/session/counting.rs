//! Counted sizes of a session's requests, beside the recorded ones.
//!
//! A prompt is its hidden prefix and the blocks of the conversation. The blocks are counted; what no transcript holds keeps
//! the size that *earlier* usage showed: the hidden prefix that of the chain's first request (or the first of another model)
//! less its blocks, thinking that of the answer's output less its visible blocks, or what the next prompt grew by where the
//! output is not recorded. Neither uses anything of the request whose size is asked for.

use std::sync::Arc;

use forkcast_sim::service::{CountedSize, LeftOut};
use forkcast_sim::wire::model::{ModelId, Tokenizer, resolve};
use forkcast_sim::wire::{BlockKind, Frame, ToolUse};
use forkcast_tokens::Generation;

use crate::calibrate::{doubt, is_plausible};
use crate::replay::{SizeSource, Sizing};
use crate::source::transcript::{Ask, HistoryChange, changes};
use crate::transcript::{Answer, InputOrigin, OutputCount, Part, Session, Thread};

/// Counts the prompts of one session.
pub(super) struct Counting<'a> {
    sizing: &'a Sizing,
    /// Empty where nothing is counted.
    agents: Vec<Conversation>,
}

/// One agent's conversation as counted.
#[derive(Debug, Default)]
struct Conversation {
    /// Items taken in.
    cursor: usize,
    blocks: Vec<Block>,
    /// Tokens of `blocks` with their frames, without the cleared ones.
    sum: u64,
    /// Tokens of results that were cleared in place, as the client says.
    cleared: u64,
    model: Option<Arc<str>>,
    reader: Reader,
    /// Tokens of the hidden prefix, once a request has shown them.
    head: Option<u64>,
    /// Total of the request before, while nothing but new blocks came since.
    before: Option<Before>,
}

/// What the request before leaves for the next.
#[derive(Clone, Copy, Debug)]
struct Before {
    recorded: u64,
    counted: u64,
    /// The thinking of its answer whose size nothing has shown yet.
    thinking: Option<usize>,
}

/// A block of the conversation.
#[derive(Clone, Copy, Debug)]
struct Block {
    item: usize,
    part: Part,
    of_answer: bool,
    /// Tokens that usage showed, for thinking.
    shown: Option<u64>,
}

/// How blocks become tokens.
#[derive(Clone, Copy, Debug)]
struct Reader {
    tokenizer: Tokenizer,
    message_tokens: u64,
    keeps_thinking: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self { tokenizer: Tokenizer::Other, message_tokens: 0, keeps_thinking: true }
    }
}

impl<'a> Counting<'a> {
    pub fn new(sizing: &'a Sizing, session: &Session) -> Self {
        let is_counted = sizing.source != SizeSource::Recorded && session.is_counted();
        let agents = if is_counted { session.agents.len() } else { 0 };
        Self { sizing, agents: (0..agents).map(|_| Conversation::default()).collect() }
    }

    /// Whether counted sizes replace the recorded ones.
    pub fn decides(&self) -> bool {
        self.sizing.source == SizeSource::Counted
    }

    /// The request as counted, if anybody asked and the blocks were counted.
    pub fn count(&mut self, ask: &Ask<'_>, thread: &Thread) -> Option<CountedSize> {
        let conversation = self.agents.get_mut(ask.agent)?;
        conversation.take_in(self.sizing, thread, ask.item);
        conversation.read_as(self.sizing, &ask.answer.model);
        let size = conversation.size(ask.answer);
        conversation.learn(self.sizing, ask.answer);
        conversation.answer(self.sizing, ask.item, ask.answer);
        Some(size)
    }
}

impl Conversation {
    fn take_in(&mut self, sizing: &Sizing, thread: &Thread, until: usize) {
        for (at, change) in changes(thread, self.cursor, until) {
            match change {
                HistoryChange::Adds(input) => {
                    if input.origin != InputOrigin::ToolResults && !self.reader.keeps_thinking {
                        self.forget_thinking(sizing);
                    }
                    input.parts.iter().for_each(|part| self.push(sizing, Block::new(at, *part, false)));
                }
                HistoryChange::Keeps(to) => {
                    let kept = to.map_or(0, |to| self.blocks.partition_point(|block| block.item <= to as usize));
                    self.keep(sizing, kept);
                }
                HistoryChange::Clears(tokens) => {
                    self.cleared += tokens;
                    self.before = None;
                }
            }
        }
        self.cursor = until + 1;
    }

    fn keep(&mut self, sizing: &Sizing, blocks: usize) {
        if blocks == 0 {
            self.cleared = 0;
        }
        if blocks < self.blocks.len() {
            self.blocks.truncate(blocks);
            self.before = None;
            self.count_again(sizing);
        }
    }

    /// Models that do not keep thinking lose that of earlier turns when a new one begins (`providers.md` 1.8).
    fn forget_thinking(&mut self, sizing: &Sizing) {
        let thinking = self.blocks.iter_mut().filter(|block| block.part.kind == BlockKind::Thinking);
        thinking.for_each(|block| block.shown = Some(0));
        self.before = None;
        self.count_again(sizing);
    }

    fn count_again(&mut self, sizing: &Sizing) {
        let blocks = std::mem::take(&mut self.blocks);
        self.sum = 0;
        blocks.into_iter().for_each(|block| self.push(sizing, block));
    }

    fn push(&mut self, sizing: &Sizing, block: Block) {
        let begins = self.blocks.last().is_none_or(|last| last.of_answer != block.of_answer);
        let frame = if begins { self.reader.message_tokens } else { 0 };
        self.sum += frame + self.reader.tokens(sizing, &block);
        self.blocks.push(block);
    }

    /// Another model has another hidden prefix, and perhaps another tokenizer.
    fn read_as(&mut self, sizing: &Sizing, model: &Arc<str>) {
        if self.model.as_ref() == Some(model) {
            return;
        }
        self.reader = Reader::of(sizing, model);
        self.model = Some(model.clone());
        (self.head, self.before) = (None, None);
        self.count_again(sizing);
    }

    fn size(&mut self, answer: &Answer) -> CountedSize {
        let recorded = answer.usage.map_or(0, |recorded| recorded.usage.total_input_tokens());
        let blocks = self.sum.saturating_sub(self.cleared);
        let tokenizer = self.reader.tokenizer;
        let shows_prefix = self.head.is_none();
        if shows_prefix && recorded > 0 {
            self.head = Some(recorded.saturating_sub(blocks));
        }
        let tokens = self.head.unwrap_or(0) + blocks;
        let left_out = doubt(answer.usage)
            .or(shows_prefix.then_some(LeftOut::ShowsPrefix))
            .or((!is_plausible(recorded, tokens)).then_some(LeftOut::NotWhatWasBilled));
        CountedSize { tokens, tokenizer, left_out }
    }

    /// The growth of the prompt shows how much the thinking of the answer before had.
    fn learn(&mut self, sizing: &Sizing, answer: &Answer) {
        let recorded = answer.usage.map_or(0, |recorded| recorded.usage.total_input_tokens());
        if let Some(Before { recorded: before, counted, thinking: Some(at) }) = self.before {
            let grown = recorded.saturating_sub(before);
            if let Some(block) = self.blocks.get_mut(at) {
                let old = self.reader.tokens(sizing, block);
                let others = self.sum.saturating_sub(counted + old);
                let new = grown.saturating_sub(others);
                block.shown = Some(new);
                self.sum = self.sum.saturating_sub(old) + new;
            }
        }
        self.before = (recorded > 0).then_some(Before { recorded, counted: self.sum, thinking: None });
    }

    /// Adds the blocks of an answer. Its thinking is what its output had beyond them, where the output is known.
    fn answer(&mut self, sizing: &Sizing, item: usize, answer: &Answer) {
        let first = self.blocks.len();
        answer.parts.iter().for_each(|part| self.push(sizing, Block::new(item, *part, true)));
        let is_thinking = |block: &Block| block.part.kind == BlockKind::Thinking;
        let Some(thinking) = self.blocks[first..].iter().position(is_thinking).map(|at| first + at) else { return };
        let visible = self.blocks[first..].iter().filter(|block| !is_thinking(block));
        let visible = visible.map(|block| self.reader.tokens(sizing, block)).sum::<u64>();
        match (answer.output, answer.usage) {
            (OutputCount::Final, Some(recorded)) => {
                let shown = recorded.usage.output_tokens.saturating_sub(visible);
                self.show(sizing, first, thinking, shown);
            }
            _ => {
                if let Some(before) = &mut self.before {
                    before.thinking = Some(thinking);
                }
            }
        }
    }

    /// All thinking of one answer has `shown` tokens together: its first block is given them.
    fn show(&mut self, sizing: &Sizing, first: usize, thinking: usize, shown: u64) {
        for at in first..self.blocks.len() {
            if self.blocks[at].part.kind != BlockKind::Thinking {
                continue;
            }
            let old = self.reader.tokens(sizing, &self.blocks[at]);
            let new = if at == thinking { shown } else { 0 };
            self.blocks[at].shown = Some(new);
            self.sum = self.sum.saturating_sub(old) + new;
        }
    }
}

impl Block {
    const fn new(item: usize, part: Part, of_answer: bool) -> Self {
        Self { item, part, of_answer, shown: None }
    }
}

impl Reader {
    fn of(sizing: &Sizing, model: &str) -> Self {
        let row = resolve(model).map(|resolved| (resolved.id, resolved.id.row()));
        let unknown =
            if model.to_ascii_lowercase().contains("claude") { Tokenizer::Claude47 } else { Tokenizer::Other };
        let tokenizer = row.map_or(unknown, |(_, row)| row.tokenizer);
        let id: Option<ModelId> = row.map(|(id, _)| id);
        let frame = Frame { model: id, tokenizer, tools: ToolUse::Free, thinking: false };
        let message_tokens = sizing.counter.frame_tokens(&frame).message;
        let keeps_thinking = row.and_then(|(_, row)| row.keeps_thinking).unwrap_or(true);
        Self { tokenizer, message_tokens, keeps_thinking }
    }

    fn tokens(&self, sizing: &Sizing, block: &Block) -> u64 {
        if let Some(shown) = block.shown {
            return shown;
        }
        let makeup = block.part.makeup();
        match Generation::of(self.tokenizer) {
            Some(generation) => sizing.factors().tokens(generation, &makeup),
            None => makeup.text_tokens() + makeup.fixed,
        }
    }
}
