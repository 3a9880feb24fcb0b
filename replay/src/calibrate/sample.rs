//! Which recorded requests can be fitted to: those whose whole prompt is there, and was billed as one.

use std::collections::BTreeMap;

use forkcast_sim::cache::Rules;
use forkcast_sim::service::LeftOut;
use forkcast_sim::wire::{Content, Frame, Level, Maker, Place, Request, Wire};
use forkcast_tokens::{BUILT_IN, Class, Factors, Generation, Makeup, Vocabulary, factors, makeup};

use super::growth;
use crate::exchange::{Exchange, RecordedUsage};
use crate::input::Inputs;

/// Reasons that keep a prompt from being compared with its bill, whatever it holds.
pub fn doubt(usage: Option<RecordedUsage>) -> Option<LeftOut> {
    match usage.filter(|recorded| recorded.usage.total_input_tokens() > 0) {
        None => Some(LeftOut::NoUsage),
        Some(recorded) if recorded.server_passes => Some(LeftOut::ServerTools),
        Some(recorded) if recorded.applied_edits > 0 => Some(LeftOut::ContextEdited),
        Some(_) => None,
    }
}

/// The same of an exchange.
pub fn fault(exchange: &Exchange) -> Option<LeftOut> {
    doubt(exchange.usage).or(exchange.altered.then_some(LeftOut::Altered))
}

/// Whether a bill of `recorded` tokens can be one of a prompt that was estimated at so many. No tokenizer is four times
/// as coarse or as fine as another, so the body then differs from the one sent (recorders shorten bodies and make up usage).
pub fn is_plausible(recorded: u64, estimated: u64) -> bool {
    recorded <= estimated.saturating_mul(4) && estimated <= recorded.saturating_mul(4)
}

/// One recorded request: what it is made of, and what it was billed.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The file in which it was recorded.
    pub file: String,
    /// Its tokenizer.
    pub generation: Generation,
    /// All its blocks.
    pub makeup: Makeup,
    /// Tokens beside its blocks.
    pub frame_tokens: u64,
    /// Its whole input as billed; of a step of a session, what it added.
    pub recorded_tokens: u64,
    /// It is a step of a session and no whole request.
    pub is_step: bool,
}

/// A step of this many tokens counts like a whole request.
const STEP_TOKENS: f64 = 1_000.0;

/// No step counts more than this many requests.
const STEP_WEIGHT_MAX: f64 = 20.0;

impl Sample {
    /// Its whole input as estimated.
    pub fn estimated_tokens(&self, factors: &Factors) -> u64 {
        factors.tokens(self.generation, &self.makeup) + self.frame_tokens
    }

    /// What it counts in a fit. A step of a session counts by its size: small ones are mostly frames, which no factor applies
    /// to, and it is sums that a bill adds up.
    pub fn weight(&self) -> f64 {
        match self.is_step {
            true => (self.recorded_tokens as f64 / STEP_TOKENS).min(STEP_WEIGHT_MAX),
            false => 1.0,
        }
    }

    /// The part that no factor applies to.
    pub fn unscaled_tokens(&self) -> u64 {
        factors::unscaled(&self.makeup) + self.frame_tokens
    }

    /// The class with most of its text, if that is more than what no factor applies to.
    pub fn largest_class(&self) -> Option<Class> {
        let class = Class::ALL.into_iter().max_by_key(|class| self.makeup.text[*class as usize])?;
        (self.makeup.text[class as usize] > self.unscaled_tokens()).then_some(class)
    }
}

/// What recordings hold.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Requests to fit to, in the order of the input.
    pub samples: Vec<Sample>,
    /// The others, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

impl Samples {
    /// Takes everything that was read apart.
    pub fn of(inputs: &Inputs) -> Self {
        let mut found = Self::default();
        let mut wire = Wire::new(Rules::for_recording(None).forms);
        for exchange in inputs.exchanges() {
            match sample(exchange, &mut wire) {
                Ok(sample) => found.samples.push(sample),
                Err(why) => *found.left_out.entry(why).or_default() += 1,
            }
        }
        growth::add(inputs, &mut found);
        found
    }
}

fn sample(exchange: &Exchange, wire: &mut Wire) -> Result<Sample, LeftOut> {
    if exchange.maker() != Maker::Anthropic {
        return Err(LeftOut::OtherModel);
    }
    if let Some(why) = fault(exchange) {
        return Err(why);
    }
    let request = wire.read(&exchange.body, "", &exchange.model).map_err(|_| LeftOut::Unreadable)?;
    let tokenizer = request.resolved.map(|resolved| resolved.id.row().tokenizer);
    let generation = tokenizer.and_then(Generation::of).ok_or(LeftOut::OtherModel)?;
    let sample = Sample {
        file: exchange.origin.file.clone(),
        generation,
        makeup: whole(&request, wire, generation),
        frame_tokens: frame_tokens(&request, wire, generation),
        recorded_tokens: exchange.usage.map_or(0, |recorded| recorded.usage.total_input_tokens()),
        is_step: false,
    };
    if sample.makeup.outside > 0 {
        return Err(LeftOut::OutsideContent);
    }
    let plausible = is_plausible(sample.recorded_tokens, sample.estimated_tokens(&BUILT_IN));
    if plausible { Ok(sample) } else { Err(LeftOut::NotWhatWasBilled) }
}

fn whole(request: &Request, wire: &Wire, generation: Generation) -> Makeup {
    let mut whole = Makeup::default();
    for block in request.nodes.iter().filter_map(|node| wire.prefixes.block(*node)) {
        let blocks = &wire.blocks;
        let content = Content {
            level: blocks.level(block),
            role: blocks.role(block),
            kind: blocks.kind(block),
            bytes: blocks.bytes(block),
        };
        whole += makeup(content, generation.tokenizer(), Vocabulary::O200k);
    }
    whole
}

fn frame_tokens(request: &Request, wire: &Wire, generation: Generation) -> u64 {
    let frame = factors::frame(&Frame::of(request, wire, generation.tokenizer()));
    let in_messages = |place: &&Place| place.level == Level::Messages && place.item != Place::LEVEL_HEAD;
    let mut items: Vec<u32> = request.places.iter().filter(in_messages).map(|place| place.item).collect();
    items.dedup();
    frame.head + frame.message * items.len() as u64 + frame.tail
}
