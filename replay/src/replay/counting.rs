//! Sizes by a tokenizer, if requested.

use std::sync::Arc;

use forkcast_sim::outside::quoted;
use forkcast_sim::service::{CountedSize, LeftOut};
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{BlockId, Content, CountedBlocks, Frame, Index, Request, TokenCounter, Wire};
use forkcast_sim::words;
use forkcast_tokens::{BUILT_IN, Counter, Factors, Generation, is_outside, tools};

use crate::calibrate::{self, Calibration};
use crate::exchange::Exchange;

words! {
    /// The source of sizes of prefixes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SizeSource {
        /// Earlier usage and the request's own total.
        #[default]
        Recorded = "recorded",
        /// Only a tokenizer: recorded usage has no effect on a prediction.
        Counted = "counted",
        /// As recorded; each request is counted too, to compare the counter with the bill.
        Both = "both",
    }
}

/// How requests are sized.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// Where sizes come from.
    pub source: SizeSource,
    /// Who counts, where anything is counted.
    pub counter: Arc<dyn TokenCounter>,
    /// The fit that the counter's factors come from; `None` for the built-in ones.
    pub calibration: Option<Calibration>,
}

impl Default for Sizing {
    fn default() -> Self {
        Self { source: SizeSource::Recorded, counter: Arc::new(Counter::default()), calibration: None }
    }
}

impl Sizing {
    /// The factors that the counter has for Claude.
    pub fn factors(&self) -> Factors {
        self.calibration.as_ref().map_or(BUILT_IN, |fit| fit.factors)
    }

    /// Sizes from `source`, by factors that were fitted to recordings where there are such.
    pub fn new(source: SizeSource, calibration: Option<Calibration>) -> Self {
        let counter = calibration.as_ref().map_or_else(Counter::default, |fit| Counter { factors: fit.factors });
        Self { source, counter: Arc::new(counter), calibration }
    }
}

/// A request's prefixes as counted.
pub(super) struct CountedPath {
    /// Tokens of each prefix.
    pub cumulative: Vec<u64>,
    /// The whole.
    pub size: CountedSize,
    /// Assumptions, in sentences for the ledger.
    pub remarks: Vec<String>,
}

/// Counts requests of one stream, each block once.
pub(super) struct Counting<'a> {
    sizing: &'a Sizing,
    blocks: CountedBlocks,
    /// Whether blocks refer to content elsewhere, each checked once.
    outside: Index<BlockId, bool>,
}

impl<'a> Counting<'a> {
    pub fn new(sizing: &'a Sizing) -> Self {
        Self { sizing, blocks: CountedBlocks::default(), outside: Index::default() }
    }

    /// The request as counted, if anybody asked.
    pub fn count(&mut self, request: &Request, exchange: &Exchange, wire: &Wire) -> Option<CountedPath> {
        if !self.is_asked() {
            return None;
        }
        let tokenizer = Tokenizer::of(request.resolved, &request.model);
        let cumulative = self.blocks.cumulative(&*self.sizing.counter, tokenizer, request, wire);
        let tokens = cumulative.last().copied().unwrap_or(0);
        let recorded = exchange.usage.map_or(0, |recorded| recorded.usage.total_input_tokens());
        let implausible = !calibrate::is_plausible(recorded, tokens);
        let outside = self.outside(request, wire);
        let left_out = calibrate::fault(exchange)
            .or((outside > 0).then_some(LeftOut::OutsideContent))
            .or(implausible.then_some(LeftOut::NotWhatWasBilled));
        let mut remarks = remarks(request, tokenizer, wire);
        if outside > 0 {
            remarks.push("content that is not in the body was counted by assumption".to_owned());
        }
        Some(CountedPath { cumulative, size: CountedSize { tokens, tokenizer, left_out }, remarks })
    }

    /// Blocks of the request that refer to content elsewhere.
    fn outside(&mut self, request: &Request, wire: &Wire) -> usize {
        let blocks = &wire.blocks;
        let is_outside = |block: BlockId| {
            let (level, role, kind) = (blocks.level(block), blocks.role(block), blocks.kind(block));
            is_outside(Content { level, role, kind, bytes: blocks.bytes(block) })
        };
        let path = request.nodes.iter().filter_map(|node| wire.prefixes.block(*node));
        path.filter(|block| *self.outside.get_or_insert_with(*block, || is_outside(*block))).count()
    }

    /// Whether anybody asked for counted sizes.
    pub fn is_asked(&self) -> bool {
        self.sizing.source != SizeSource::Recorded
    }

    /// Whether counted sizes replace the recorded ones.
    pub fn decides(&self) -> bool {
        self.sizing.source == SizeSource::Counted
    }
}

/// What a count assumes of the model.
fn remarks(request: &Request, tokenizer: Tokenizer, wire: &Wire) -> Vec<String> {
    if Generation::of(tokenizer).is_none() {
        return Vec::new();
    }
    let model = request.resolved.map(|resolved| resolved.id);
    let unknown = model
        .is_none()
        .then(|| format!("counted like Claude models from Opus 4.7 on: {} is not known", quoted(&request.model)));
    let taken = tools::instructions(model, Frame::of(request, wire, tokenizer).tools).map(|taken| taken.row);
    let foreign = taken.filter(|row| model.is_some_and(|model| model != *row));
    let foreign =
        foreign.map(|row| format!("instructions for tools counted as those of {row}: none are known for this model"));
    unknown.into_iter().chain(foreign).collect()
}
